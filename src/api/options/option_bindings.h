// Bindings of option rows to members of TrainingOptions, ModelOptions and CheckpointOptions, by the kind of value.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "api/options/option_table.h"
#include "api/options/option_values.h"
#include "core/number_text.h"

namespace cpt::binding {

using Words = std::vector<std::string>;

// The member in a whole set of options.
template <class Options, class T>
auto& field(Options& options, T TrainingOptions::*member) {
  return options.*member;
}
template <class Options, class T>
auto& field(Options& options, T ModelOptions::*member) {
  return options.model.*member;
}
template <class Options, class T>
auto& field(Options& options, T FieldRoles::*member) {
  return options.model.fields.*member;
}
template <class Options, class T>
auto& field(Options& options, T CheckpointOptions::*member) {
  return options.checkpoints.*member;
}

template <class Options, class T>
auto& field(Options& options, T ValidationOptions::*member) {
  return options.validation.*member;
}

// Binds a member by parse(words), which returns its value or throws Error(kUsage), and show(value).
template <class Owner, class T, class Parse, class Show>
OptionBinding<TrainingOptions> bind_member(T Owner::*member, Parse parse, Show show) {
  return {.set = [=](TrainingOptions& o, const Words& words) { field(o, member) = parse(words); },
          .show = [=](const TrainingOptions& o) { return show(field(o, member)); },
          .copy = [=](TrainingOptions& to, const TrainingOptions& from) { field(to, member) = field(from, member); },
          .of_model = std::is_same_v<Owner, ModelOptions> || std::is_same_v<Owner, FieldRoles>};
}

template <class Owner, class T>
auto count(T Owner::*member, std::uint64_t least,
           std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {
  return bind_member(
      member, [=](const Words& words) { return static_cast<T>(parse_count(words.front(), least, most)); },
      [](T value) { return std::to_string(value); });
}

template <class Owner>
auto number(double Owner::*member) {
  return bind_member(
      member, [](const Words& words) { return parse_number(words.front()); }, number_text);
}

// `names` must live as long as the binding.
template <class Owner, class Choice>
auto choice(Choice Owner::*member, const Names<Choice>& names) {
  return bind_member(
      member, [&names](const Words& words) { return parse_choice(names, words.front()); },
      [&names](Choice value) { return name_of(names, value); });
}

template <class Owner>
auto flag(bool Owner::*member) {
  return bind_member(
      member, [](const Words&) { return true; }, [](bool value) { return std::string(value ? "true" : "false"); });
}

// on or off.
template <class Owner>
auto switched(bool Owner::*member) {
  return bind_member(
      member, [](const Words& words) { return parse_choice(switch_names(), words.front()); },
      [](bool value) { return name_of(switch_names(), value); });
}

template <class Owner>
auto text(std::string Owner::*member) {
  return bind_member(
      member, [](const Words& words) { return words.front(); }, [](const std::string& value) { return value; });
}

template <class Owner>
auto list(Words Owner::*member) {
  return bind_member(
      member, [](const Words& words) { return words; },
      [](const Words& words) {
        std::string text;
        for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
        return text;
      });
}

// One word of the command line, with commas.
template <class Owner>
auto comma_list(Words Owner::*member) {
  return bind_member(
      member, [](const Words& words) { return split_at_commas(words.front()); },
      [](const Words& words) { return join_with_commas(words); });
}

}  // namespace cpt::binding
