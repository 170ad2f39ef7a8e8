#include "data/binary/binary_shard.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace cpt {

static_assert(std::endian::native == std::endian::little);

namespace {

// These words are part of the format: they stay even if options of a program are renamed.
constexpr std::array<const char*, 2> kNormalizeNames{"none", "l2"};
constexpr std::array<const char*, 4> kMultiLabelNames{"first", "sample", "split", "error"};

template <class Choice, std::size_t kChoices>
const char* name_of(Choice choice, const std::array<const char*, kChoices>& names) {
  return names.at(static_cast<std::size_t>(choice));
}

// A part of a signature, and the option that sets it.
struct Setting {
  const char* name;
  const char* option;
  const char* standard;  // the value if the signature does not name it: that of a reader without the option
  const char* between;   // separates several values; nullptr: there is one value
};

constexpr const char* kMultiLabelOption = "--multilabel";  // of the job, not of a model

constexpr auto kSettings = std::to_array<Setting>({
    {"seed", "--seed", "1", nullptr},
    {"normalize", "--normalize", "none", nullptr},
    {"multilabel", kMultiLabelOption, "first", nullptr},
    {"interactions", "--interactions", "none", " --interactions "},
    {"label key", "--label-key", "label", nullptr},
    {"importance key", "--importance-key", "none", nullptr},
    {"text keys", "--text-keys", "none", ","},
    {"categorical keys", "--categorical-keys", "none", ","},
    {"ignored keys", "--ignore-keys", "none", ","},
    {"n-grams", "--ngrams", "none", " --ngrams "},
});

// A name as it stands in a signature, where a blank ends a name and a comma a list of names.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == ' ' || c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string value_in(const std::string& signature, const Setting& setting) {
  const std::string before = std::string(", ") + setting.name;
  const std::string text = ", " + signature;
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return setting.standard;
  const std::size_t begin = at + before.size() + 1;  // after a blank, if there is a value
  const std::size_t end = std::min(text.find(", ", at + 1), text.size());
  return begin < end ? text.substr(begin, end - begin) : setting.standard;
}

// " --text-keys a,b"; empty for the default value, which needs no option.
std::string option_for(const Setting& setting, const std::string& value) {
  if (value == setting.standard) return "";
  std::string words = std::string(" ") + setting.option + " ";
  char before = ' ';
  for (const char c : value) {
    const bool ends = c == ' ' && before != '\\' && setting.between != nullptr;
    words += ends ? setting.between : std::string(1, c);
    before = c;
  }
  return words;
}

void append_listed(std::string& list, const std::string& text) { list += (list.empty() ? "" : ", ") + text; }

constexpr std::string_view kMagicWithoutVersion(kBinaryMagic.data(), kBinaryMagicBytes - 1);

}  // namespace

std::uint64_t head_checksum(const BlockHead& head) { return XXH3_64bits(&head, offsetof(BlockHead, head_checksum)); }

std::uint64_t payload_checksum(std::span<const std::byte> stored) { return XXH3_64bits(stored.data(), stored.size()); }

std::uint64_t list_digest(std::uint64_t before, std::span<const FeatureHash> part) {
  return XXH3_64bits_withSeed(part.data(), part.size_bytes(), before);
}

bool is_binary_shard(std::string_view beginning) {
  return beginning.size() >= kMagicWithoutVersion.size() && may_be_binary_shard(beginning);
}

bool may_be_binary_shard(std::string_view beginning) {
  return kMagicWithoutVersion.starts_with(beginning.substr(0, kMagicWithoutVersion.size()));
}

std::string reader_signature(const ReadOptions& options) {
  std::string crosses;
  for (const std::string& cross : options.interactions) crosses += ' ' + cross;
  std::string keys;
  if (options.fields != FieldRoles{}) {
    const auto list = [&keys](const char* what, const std::vector<std::string>& names) {
      keys += std::string(", ") + what;
      for (const std::string& name : names) keys += ' ' + escaped(name);
    };
    keys = ", label key " + escaped(options.fields.label) + ", importance key " + escaped(options.fields.importance);
    list("text keys", options.fields.text);
    list("categorical keys", options.fields.categorical);
    list("ignored keys", options.fields.ignored);
  }
  std::string ngrams = options.ngrams.empty() ? "" : ", n-grams";
  for (const std::string& one : options.ngrams) ngrams += ' ' + escaped(one);
  return "seed " + std::to_string(options.seed) + ", normalize " + name_of(options.normalize, kNormalizeNames) +
         ", multilabel " + name_of(options.multilabel, kMultiLabelNames) + ", interactions" +
         (crosses.empty() ? " none" : crosses) + keys + ngrams;
}

std::string describe_difference(const std::string& converted, const std::string& wanted, bool is_of_model) {
  std::string here;
  std::string there;
  std::string options_here;
  std::string options_there;
  bool is_fixed = false;
  for (const Setting& setting : kSettings) {
    const std::string old_value = value_in(converted, setting);
    const std::string new_value = value_in(wanted, setting);
    if (old_value == new_value) continue;
    is_fixed |= is_of_model && std::string_view(setting.option) != kMultiLabelOption;
    append_listed(there, std::string(setting.name) + " " + old_value);
    append_listed(here, std::string(setting.name) + " " + new_value);
    options_there += option_for(setting, old_value);
    options_here += option_for(setting, new_value);
  }
  if (here.empty()) return "converted with " + converted + "; this run reads with " + wanted;
  const std::string again = options_here.empty() ? " without" + options_there : " with" + options_here;
  const std::string instead = options_there.empty() ? "omit" + options_here : "give" + options_there + " here";
  return "converted with " + there + (is_fixed ? "; the model reads with " : "; this run reads with ") + here +
         "; convert again" + again + (is_fixed ? "" : ", or " + instead);
}

}  // namespace cpt
