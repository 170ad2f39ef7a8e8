#include "data/text/label_choice.h"

#include <string>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/text/tokens.h"

namespace cpt {

void require_known(std::string_view line, std::string_view label, std::string_view place, const ReadOptions& options) {
  if (!options.knows_label || options.knows_label(label)) return;
  reject(line, place, kKnownLabelExpected);
}

bool LabelChoice::finish(std::string_view line, const LabelList& list, const Origin& origin, Batch& batch) {
  const std::size_t labels = list.labels.size();
  if (labels == 0) {
    if (options_.labels_required) reject(line, Tokens(line).next(), kLabelExpected);
    batch.finish_example({}, list.importance, origin);
    return true;
  }
  if (labels > 1 && options_.on_several_labels) options_.on_several_labels();
  switch (labels == 1 ? MultiLabel::kFirst : options_.multilabel) {
    case MultiLabel::kFirst:
      finish_one(line, list, 0, origin, batch);
      break;
    case MultiLabel::kSample:
      finish_one(line, list, sampled(labels, origin), origin, batch);
      break;
    case MultiLabel::kSplit:
      return split(line, list, origin, batch);
    case MultiLabel::kError:
      reject(line, list.places[1], "one label");
  }
  return true;
}

void LabelChoice::finish_one(std::string_view line, const LabelList& list, std::size_t chosen, const Origin& origin,
                             Batch& batch) {
  require_known(line, list.labels[chosen], list.places[chosen], options_);
  batch.finish_example(list.labels[chosen], list.importance, origin);
}

std::size_t LabelChoice::sampled(std::size_t labels, const Origin& origin) const {
  const std::uint64_t draw = mix(mix(mix(options_.seed) + origin.shard) + origin.line);
  // The upper half of a 64 x 64 bit product maps the draw to 0 .. labels - 1 as evenly as possible.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>(Wide{draw} * labels >> 64);
}

bool LabelChoice::split(std::string_view line, const LabelList& list, const Origin& origin, Batch& batch) {
  const std::span<const std::string_view> labels = list.labels;
  if (batch.open_features() + 1 > kMaxLineFeatures / labels.size()) {
    reject(line, list.places[0], "at most " + std::to_string(kMaxLineFeatures) + " features for all labels together");
  }
  for (std::size_t i = 0; i < labels.size(); ++i) require_known(line, labels[i], list.places[i], options_);
  features_.clear();
  for (std::size_t i = 0; i < batch.open_features(); ++i) {
    features_.push_back({batch.open_feature(i), batch.open_value(i)});
  }
  batch.discard_example();
  const float share = list.importance / static_cast<float>(labels.size());
  if (share == 0 && options_.weights_required) return false;
  for (const std::string_view label : labels) {
    for (const Feature& f : features_) batch.add_feature(f.feature, f.value);
    batch.finish_example(label, share, origin);
  }
  return true;
}

}  // namespace cpt
