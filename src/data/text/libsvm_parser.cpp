#include "data/text/libsvm_parser.h"

#include <algorithm>
#include <cstddef>

#include "core/name_hash.h"
#include "data/format/format.h"
#include "data/format/parse_error.h"
#include "data/text/number.h"

namespace cpt {

namespace {

constexpr DelimiterSet kLibsvmDelimiters(" \t:");

}  // namespace

// What stands between blanks.
struct LibsvmParser::Token {
  std::string_view text;  // empty at the end of the line
  std::size_t colon = 0;  // where its first one is; its size if it has none
};

class LibsvmParser::Tokens {
 public:
  Tokens(std::string_view line, DelimiterWalk walk) : at_(line.data()), end_(at_ + line.size()), walk_(walk) {}

  Token next() {
    const char* first = at_;
    const char* colon = at_;
    const char* last = at_;
    while (last == first && at_ != end_) {
      first = at_;
      colon = last = walk_.next();
      while (last != end_ && *last == ':') last = walk_.next();
      at_ = last == end_ ? end_ : last + 1;
    }
    return {{first, distance(first, last)}, distance(first, colon)};
  }

 private:
  static std::size_t distance(const char* first, const char* last) { return static_cast<std::size_t>(last - first); }

  const char* at_;
  const char* end_;
  DelimiterWalk walk_;
};

LibsvmParser::LibsvmParser(const ReadOptions& options)
    : options_(options),
      name_space_(FeatureHasher(options.seed).name_space("")),
      label_choice_(options),
      delimiters_(kLibsvmDelimiters) {}

bool LibsvmParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  if (origin.line == 1 && is_xmc_header(line)) return false;
  Tokens tokens(line, delimiters_.walk(line));
  Token token = tokens.next();
  labels_.clear();
  if (token.colon == token.text.size()) {
    split_labels(line, token.text);
    token = tokens.next();
  } else if (options_.labels_required) {
    reject(line, token.text, "a label");
  }
  for (; !token.text.empty(); token = tokens.next()) add_feature(line, token, batch);
  label_choice_.finish(line, labels_, origin, batch);
  return true;
}

void LibsvmParser::split_labels(std::string_view line, std::string_view token) {
  std::size_t first = 0;
  while (true) {
    const std::size_t comma = std::min(token.find(',', first), token.size());
    if (comma == first) reject(line, token, "labels with one comma between them");
    labels_.push_back(token.substr(first, comma - first));
    if (comma == token.size()) return;
    first = comma + 1;
  }
}

void LibsvmParser::add_feature(std::string_view line, const Token& token, Batch& batch) const {
  if (token.colon == token.text.size()) reject(line, token.text, "index:value");
  std::string_view index = token.text.substr(0, token.colon);
  if (!is_index(index)) reject(line, token.text, "an index that is an unsigned integer below 2^64");
  index.remove_prefix(std::min(index.find_first_not_of('0'), index.size() - 1));

  const std::string_view text = token.text.substr(token.colon + 1);
  const auto value = parse_number(text);
  if (!value) reject(line, text, "a number of at most 1e30 in size");
  const FeatureHash feature = hash_name(index, name_space_);
  batch.add_feature(feature, static_cast<float>(*value));
  if (options_.on_feature) options_.on_feature(feature, "", index);
}

}  // namespace cpt
