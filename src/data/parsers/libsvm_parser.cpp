#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/hashing/name_hash.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/text/delimiters.h"
#include "data/text/label_choice.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

constexpr DelimiterSet kLibsvmDelimiters(" \t:");

// The text between two blanks.
struct IndexedToken {
  std::string_view text;  // empty at the end of the line
  std::size_t colon = 0;  // offset of the first colon; the size of the text if there is none
};

class IndexedTokens {
 public:
  IndexedTokens(std::string_view line, DelimiterWalk walk) : at_(line.data()), end_(at_ + line.size()), walk_(walk) {}

  IndexedToken next() {
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

class LibsvmParser : public LineParser {
 public:
  explicit LibsvmParser(const ReadOptions& options) : options_(options), label_choice_(options) {}
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  void split_labels(std::string_view line, std::string_view token);
  void add_feature(std::string_view line, const IndexedToken& token, Batch& batch) const;

  const ReadOptions& options_;
  const std::uint64_t name_space_ = FeatureHasher(options_.seed).name_space("");
  LabelChoice label_choice_;
  std::vector<std::string_view> labels_;  // of the current line
  Delimiters delimiters_{kLibsvmDelimiters};
};

bool LibsvmParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  if (origin.line == 1 && is_xmc_header(line)) return false;
  IndexedTokens tokens(line, delimiters_.walk(line));
  IndexedToken token = tokens.next();
  labels_.clear();
  if (token.colon == token.text.size()) {
    split_labels(line, token.text);
    token = tokens.next();
  }
  const IndexedToken first = token;
  for (; !token.text.empty(); token = tokens.next()) add_feature(line, token, batch);
  if (labels_.empty() && options_.labels_required) {
    const auto offset = static_cast<std::size_t>(first.text.data() - line.data());
    throw UnlabelledLine(offset + 1, kLabelExpected, quote(first.text));
  }
  return label_choice_.finish(line, labels_, origin, batch);
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

void LibsvmParser::add_feature(std::string_view line, const IndexedToken& token, Batch& batch) const {
  if (token.colon == token.text.size()) reject(line, token.text, "index:value");
  std::string_view index = token.text.substr(0, token.colon);
  if (!is_index(index)) reject(line, token.text, "an index that is an unsigned integer below 2^64");
  index.remove_prefix(std::min(index.find_first_not_of('0'), index.size() - 1));

  const std::string_view text = token.text.substr(token.colon + 1);
  const auto value = parse_decimal(text);
  if (!value) reject(line, text, "a number of at most 1e30 in size");
  const FeatureHash feature = hash_name(index, name_space_);
  batch.add_feature(feature, static_cast<float>(*value));
  if (options_.on_feature) options_.on_feature(feature, "", index);
}

}  // namespace

std::unique_ptr<LineParser> make_libsvm_parser(const ReadOptions& options) {
  return std::make_unique<LibsvmParser>(options);
}

}  // namespace cpt
