#include "data/text/ngrams.h"

#include <algorithm>

#include "core/hashing/name_hash.h"
#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {

void Ngrams::begin_name_space(std::string_view name, std::uint64_t hash, double value, bool is_text) {
  most_ = most_of(name, is_text);
  if (most_ == 0) return;
  name_space_ = name;
  hash_ = hash;
  value_ = static_cast<float>(value);
  joined_.clear();
  words_.clear();
}

// An option for the namespace takes precedence over one for all text.
std::size_t Ngrams::most_of(std::string_view name_space, bool is_text) const {
  std::size_t most = 0;
  for (const NgramOption& one : all_) {
    if (one.name_space == name_space) return one.most;
    if (!one.name_space && is_text) most = one.most;
  }
  return most;
}

void Ngrams::add_word(std::string_view word) {
  if (!words_.empty()) joined_ += kNgramSeparator;
  const std::size_t begin = joined_.size();
  joined_ += word;
  words_.push_back({begin, joined_.size()});
}

void Ngrams::end_name_space(Batch& batch, Interactions* interactions) {
  for (std::size_t length = 2; length <= std::min(most_, words_.size()); ++length) {
    for (std::size_t first = 0; first + length <= words_.size(); ++first) {
      const std::size_t begin = words_[first].begin;
      const std::size_t end = words_[first + length - 1].end;
      add_ngram(std::string_view(joined_).substr(begin, end - begin), batch, interactions);
    }
  }
  most_ = 0;
}

void Ngrams::add_ngram(std::string_view name, Batch& batch, Interactions* interactions) {
  if (batch.open_features() >= kMaxLineFeatures) {
    throw ParseError(1, "at most " + std::to_string(kMaxLineFeatures) + " features", "more with --ngrams");
  }
  const FeatureHash feature = hash_name(name, hash_);
  batch.add_feature(feature, value_);
  if (!options_.on_feature) return;
  options_.on_feature(feature, name_space_, name);
  if (interactions != nullptr) interactions->add_name(names_.emplace_back(name));
}

void require_words(Format format, const ReadOptions& options) {
  const FieldRoles& roles = options.fields;
  for (const NgramOption& one : parse_ngrams(options.ngrams)) {
    const std::string name = one.name_space.value_or("");
    const std::string option = "--ngrams " + (one.name_space ? name + ":" : "") + std::to_string(one.most);
    const auto refuse = [&option](const std::string& reason) { throw Error(Fault::kUsage, option + reason); };
    if (format == Format::kLibsvm) refuse(" needs words, which the libsvm format does not have");
    if (format == Format::kVw && !one.name_space) {
      refuse(" is for text; of lines in vw format, name the namespace, like --ngrams title:2");
    }
    if (format == Format::kFasttext && !name.empty())
      refuse(" needs namespaces, which the fasttext format does not have");
    if ((format == Format::kJson || format == Format::kCsv) && !one.name_space && roles.text.empty()) {
      refuse(std::string(" is for text, and --text-") + (format == Format::kCsv ? "columns" : "keys") + " names none");
    }
    if (format == Format::kCsv && one.name_space && std::ranges::find(roles.text, name) == roles.text.end()) {
      refuse(" needs words: " + quote(name) + " is none of --text-columns");
    }
  }
}

}  // namespace cpt
