#include <cstddef>
#include <string_view>
#include <vector>

#include "core/hashing/name_hash.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/text/delimiters.h"
#include "data/text/label_choice.h"
#include "data/text/ngrams.h"

namespace cpt {
namespace {

constexpr DelimiterSet kFasttextDelimiters(" \t");

class FasttextParser : public LineParser {
 public:
  explicit FasttextParser(const ReadOptions& options) : options_(options), ngrams_(options), label_choice_(options) {}
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  const ReadOptions& options_;
  const std::uint64_t name_space_ = FeatureHasher(options_.seed).name_space("");
  Ngrams ngrams_;
  LabelChoice label_choice_;
  std::vector<std::string_view> labels_;  // of the current line
  Delimiters delimiters_{kFasttextDelimiters};
};

bool FasttextParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  labels_.clear();
  if (!ngrams_.none()) ngrams_.begin_name_space("", name_space_, 1, true);
  DelimiterWalk walk = delimiters_.walk(line);
  const char* end = line.data() + line.size();
  const char* last = nullptr;
  while (last != end) {
    const char* first = last == nullptr ? line.data() : last + 1;
    last = walk.next();
    const std::string_view token(first, static_cast<std::size_t>(last - first));
    if (token.empty()) continue;  // between two blanks
    if (token.starts_with(kFasttextLabelPrefix)) {
      labels_.push_back(token.substr(kFasttextLabelPrefix.size()));
      if (labels_.back().empty()) reject(line, token, "a name after __label__");
      continue;
    }
    const FeatureHash feature = hash_name(token, name_space_);
    batch.add_feature(feature, 1.0F);
    if (options_.on_feature) options_.on_feature(feature, "", token);
    if (ngrams_.collects()) ngrams_.add_word(token);
  }
  if (ngrams_.collects()) ngrams_.end_name_space(batch);
  return label_choice_.finish(line, labels_, origin, batch);
}

}  // namespace

std::unique_ptr<LineParser> make_fasttext_parser(const ReadOptions& options) {
  return std::make_unique<FasttextParser>(options);
}

}  // namespace cpt
