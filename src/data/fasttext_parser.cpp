#include "data/fasttext_parser.h"

#include "data/format.h"
#include "data/rejection.h"
#include "data/tokens.h"

namespace cpt {

FasttextParser::FasttextParser(const ReadOptions& options)
    : options_(options), hasher_(options.seed), name_space_(hasher_.name_space("")), label_choice_(options) {}

bool FasttextParser::parse(std::string_view line, Origin origin, Batch& batch) {
  labels_.clear();
  Tokens tokens(line);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token.starts_with(kFasttextLabelPrefix)) {
      labels_.push_back(token.substr(kFasttextLabelPrefix.size()));
      if (labels_.back().empty()) reject(line, token, "a name after __label__");
      continue;
    }
    const FeatureHash feature = hasher_.feature(name_space_, token);
    batch.add_feature(feature, 1.0F);
    if (options_.on_feature) options_.on_feature(feature, "", token);
  }
  label_choice_.finish(line, labels_, origin, batch);
  return true;
}

}  // namespace cpt
