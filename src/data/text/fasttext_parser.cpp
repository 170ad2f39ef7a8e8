#include "data/text/fasttext_parser.h"

#include <cstddef>

#include "core/name_hash.h"
#include "data/format/format.h"
#include "data/format/parse_error.h"

namespace cpt {

namespace {

constexpr DelimiterSet kBlanks(" \t");

}  // namespace

FasttextParser::FasttextParser(const ReadOptions& options)
    : options_(options),
      name_space_(FeatureHasher(options.seed).name_space("")),
      label_choice_(options),
      delimiters_(kBlanks) {}

bool FasttextParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  labels_.clear();
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
  }
  label_choice_.finish(line, labels_, origin, batch);
  return true;
}

}  // namespace cpt
