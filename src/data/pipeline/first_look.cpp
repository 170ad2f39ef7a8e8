#include "data/pipeline/first_look.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/ngram_options.h"
#include "cpt/error.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/pipeline/example_stream.h"
#include "data/text/tokens.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostLines = 10'000;  // blank ones and others without an example included
constexpr std::size_t kMostNameSpaces = 16;
constexpr std::size_t kMostNames = 16;
constexpr std::size_t kEnoughFeatures = 100'000;  // to judge by: crosses may be many more

void add_distinct(std::string_view text, std::size_t most, std::vector<std::string>& texts) {
  if (texts.size() < most && std::ranges::find(texts, text) == texts.end()) texts.emplace_back(text);
}

// The namespaces that have features in some line, and the keys with a role.
class NamesInLines {
 public:
  void add_name_space(std::string_view name) {
    if (!name_spaces_.contains(name)) name_spaces_.emplace(name);
  }
  void add_key(std::string_view key) {
    if (!keys_.contains(key)) keys_.emplace(key);
  }
  // Describe what the options name and no line has.
  std::vector<std::string> missing_keys(const ReadOptions& options, Format format) const;
  std::vector<std::string> missing_ignored(const ReadOptions& options, Format format) const;
  std::vector<std::string> missing_name_spaces(const ReadOptions& options, Format format) const;

 private:
  // A cross counts as a namespace called like its interaction: harmless, because namespaces with both initials exist
  // then.
  bool has_initial(char letter) const {
    return std::ranges::any_of(name_spaces_, [&](const std::string& name) { return name.starts_with(letter); });
  }
  void add_missing(const std::vector<std::string>& keys, const std::string& what, const char* option,
                   std::vector<std::string>& texts) const;

  std::set<std::string, std::less<>> name_spaces_;
  std::set<std::string, std::less<>> keys_;
};

void NamesInLines::add_missing(const std::vector<std::string>& keys, const std::string& what, const char* option,
                               std::vector<std::string>& texts) const {
  for (const std::string& key : keys) {
    if (!keys_.contains(key)) texts.push_back(what + quote(key) + " of " + option);
  }
}

// Keys are looked for in JSON only: columns of a table that are missing are an error, except those to ignore.
std::vector<std::string> NamesInLines::missing_keys(const ReadOptions& options, Format format) const {
  std::vector<std::string> texts;
  if (format != Format::kJson) return texts;
  const FieldRoles& fields = options.fields;
  const bool needs_importance = options.labels_required && !fields.importance.empty();
  if (needs_importance) add_missing({fields.importance}, "the key ", "--importance-key", texts);
  add_missing(fields.text, "the key ", "--text-keys", texts);
  add_missing(fields.categorical, "the key ", "--categorical-keys", texts);
  return texts;
}

// A binary shard has no names.
std::vector<std::string> NamesInLines::missing_name_spaces(const ReadOptions& options, Format format) const {
  std::vector<std::string> texts;
  if (format == Format::kBinary) return texts;
  for (const std::string& pair : options.interactions) {
    const CrossedNames crossed = crossed_names(pair);
    for (const std::string& name : std::set<std::string>{crossed.a, crossed.b}) {
      if (crossed.are_whole ? name_spaces_.contains(name) : has_initial(name.front())) continue;
      texts.push_back((crossed.are_whole ? "the namespace " : "a namespace that begins with ") + quote(name) +
                      ", for --interactions " + pair +
                      (format == Format::kJson ? " (keys of the outermost object are in none)" : ""));
    }
  }
  for (const NgramOption& one : parse_ngrams(options.ngrams)) {
    if (!one.name_space || name_spaces_.contains(*one.name_space)) continue;
    texts.push_back("the namespace " + quote(*one.name_space) + " of --ngrams");
  }
  return texts;
}

std::vector<std::string> NamesInLines::missing_ignored(const ReadOptions& options, Format format) const {
  std::vector<std::string> texts;
  if (format == Format::kJson) add_missing(options.fields.ignored, "the key ", "--ignore-keys", texts);
  if (format == Format::kCsv) add_missing(options.fields.ignored, "the column ", "--ignore-columns", texts);
  return texts;
}

// A list of labels, or a label with its cost and perhaps the probability of the action: "1,2,3", "1:0.4", "1:0.4:0.25".
bool is_like_a_list(std::string_view label) {
  if (label.find(',') != std::string_view::npos) return true;
  if (label.find(':') == std::string_view::npos) return false;
  for (;;) {
    const std::size_t colon = label.find(':');
    if (std::isnan(number_or_nan(label.substr(0, colon)))) return false;
    if (colon == std::string_view::npos) return true;
    label.remove_prefix(colon + 1);
  }
}

// Names with bars and without a blank are columns of a table. A line without features that was meant as an example,
// like "a |page", has a blank before its namespace.
bool is_like_a_header(const ExampleView& x, std::string_view line) {
  const std::size_t bar = line.find('|');
  return x.features.size() == 1 && bar != std::string_view::npos &&
         line.find_first_of(" \t") == std::string_view::npos &&
         line.find_first_not_of('|', bar) != std::string_view::npos;
}

}  // namespace

void BareExamples::add(const ExampleView& x, const std::string& place) {
  if (is_full()) return;
  const bool is_bare = x.features.size() == 1;  // the constant
  if (is_bare && bare_ == 0) {
    understood_ =
        place + ": is understood as " + (x.label.empty() ? "no label" : "label " + quote(x.label)) + " and no feature";
  }
  ++examples_;
  bare_ += is_bare ? 1 : 0;
}

std::string BareExamples::warning(Format format) const {
  std::string text = understood_ + ", like " + std::to_string(bare_) + " of the first " + std::to_string(examples_) +
                     (examples_ == 1 ? " example" : " examples");
  if (format != Format::kAuto && format != Format::kBinary) text += "; the format is " + describe_format(format);
  return text;
}

FirstLook look_at(const Shard& shard, ReadOptions options) {
  FirstLook look;
  if (!shard.regular) return look;
  std::unordered_set<FeatureHash> seen;
  NamesInLines names;
  const ReadOptions given = options;
  options.skip_bad_lines = true;
  options.labels_required = false;
  options.every_line = true;
  options.on_feature = [&](FeatureHash feature, std::string_view name_space, std::string_view name) {
    add_distinct(name_space, kMostNameSpaces, look.profile.name_spaces);
    names.add_name_space(name_space);
    look.check.add_name(feature, name_space, name, given);
    if (look.profile.features.size() < kMostNames) {
      add_distinct(std::string(name_space) + (name_space.empty() ? "" : "^") + std::string(name), kMostNames,
                   look.profile.features);
    }
    if (seen.size() < kEnoughFeatures && seen.insert(feature).second) look.features.push_back(feature);
  };
  options.on_named_key = [&](std::string_view key) { names.add_key(key); };
  options.on_several_labels = [&] { ++look.several_labels; };
  try {
    ExampleStream stream({shard}, {0}, std::move(options));
    Batch batch = stream.make_batch();
    bool is_first = true;
    const auto wants_more = [&](std::uint64_t lines) {
      return lines < kMostLines && !look.bare.is_full() && seen.size() < kEnoughFeatures;
    };
    for (std::uint64_t lines = 0; wants_more(lines) && stream.read(batch); ++lines) {
      if (is_first && !batch.empty()) {
        look.begins_with_header = is_like_a_header(batch[0], stream.text());
        is_first = false;
      }
      look.format = stream.format();
      if (look.format == Format::kVw && !batch.empty() && is_like_a_list(batch[0].label)) {
        if (look.lists_as_label++ == 0) look.list_as_label = batch[0].label;
      }
      ++look.lines;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        look.bare.add(batch[i], input_name(shard.path) + ":" + std::to_string(stream.line().number));
        look.check.add(batch[i]);
        look.importances.push_back(batch[i].importance);
      }
      batch.clear();
    }
  } catch (const Error&) {
  }
  if (look.features.empty()) return look;
  look.missing_keys = names.missing_keys(given, look.format);
  look.missing_ignored = names.missing_ignored(given, look.format);
  look.missing_name_spaces = names.missing_name_spaces(given, look.format);
  return look;
}

std::string warning_of_missing(const FirstLook& look, const std::string& input, const std::string& missing) {
  return input + ": no line of the first " + std::to_string(look.lines) + " has " + missing;
}

std::string warning_of_several_labels(const FirstLook& look, const std::string& input) {
  return input + ": " + std::to_string(look.several_labels) + " of the first " + std::to_string(look.lines) +
         " lines have several labels, of which --multilabel first keeps the first; split, sample and error are the "
         "other choices";
}

}  // namespace cpt
