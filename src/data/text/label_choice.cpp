#include "data/text/label_choice.h"

#include <string>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/text/tokens.h"

namespace cpt {

void require_known(std::string_view line, std::string_view label, const ReadOptions& options) {
  if (!options.knows_label || options.knows_label(label)) return;
  reject(line, label, kKnownLabelExpected);
}

void LabelChoice::finish(std::string_view line, std::span<const std::string_view> labels, const Origin& origin,
                         Batch& batch) {
  if (labels.empty() && options_.labels_required) reject(line, Tokens(line).next(), kLabelExpected);
  if (labels.empty()) return batch.finish_example({}, 1.0F, origin);
  if (labels.size() == 1) return finish_one(line, labels[0], origin, batch);
  switch (options_.multilabel) {
    case MultiLabel::kFirst:
      return finish_one(line, labels[0], origin, batch);
    case MultiLabel::kSample:
      return finish_one(line, labels[sampled(labels.size(), origin)], origin, batch);
    case MultiLabel::kSplit:
      return split(line, labels, origin, batch);
    case MultiLabel::kError:
      reject(line, labels[1], "one label");
  }
}

void LabelChoice::finish_one(std::string_view line, std::string_view label, const Origin& origin, Batch& batch) {
  require_known(line, label, options_);
  batch.finish_example(label, 1.0F, origin);
}

std::size_t LabelChoice::sampled(std::size_t labels, const Origin& origin) const {
  const std::uint64_t draw = mix(mix(mix(options_.seed) + origin.shard) + origin.line);
  // The upper half of a 64 x 64 bit product maps the draw to 0 .. labels - 1 as evenly as possible.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>(Wide{draw} * labels >> 64);
}

void LabelChoice::split(std::string_view line, std::span<const std::string_view> labels, const Origin& origin,
                        Batch& batch) {
  if (batch.open_features() + 1 > kMaxLineFeatures / labels.size()) {
    reject(line, labels[0], "at most " + std::to_string(kMaxLineFeatures) + " features for all labels together");
  }
  for (const std::string_view label : labels) require_known(line, label, options_);
  features_.clear();
  for (std::size_t i = 0; i < batch.open_features(); ++i) {
    features_.push_back({batch.open_feature(i), batch.open_value(i)});
  }
  batch.discard_example();
  const float share = 1.0F / static_cast<float>(labels.size());
  for (const std::string_view label : labels) {
    for (const Feature& f : features_) batch.add_feature(f.feature, f.value);
    batch.finish_example(label, share, origin);
  }
}

}  // namespace cpt
