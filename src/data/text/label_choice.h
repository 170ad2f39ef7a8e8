// The labels of a line: unknown ones, and lines with several.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "data/format/read_options.h"

namespace cpt {

// Throws ParseError, at `place`, if ReadOptions::knows_label does not know the label.
void require_known(std::string_view line, std::string_view label, std::string_view place, const ReadOptions& options);
inline void require_known(std::string_view line, std::string_view label, const ReadOptions& options) {
  require_known(line, label, label, options);
}

// Whether a label has control characters, and so may not fit on a line of its own.
constexpr bool has_control_character(std::string_view label) {
  return std::ranges::any_of(label, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}
inline constexpr const char* kPrintableLabelExpected = "a label without control characters";

// The labels of a line and, parallel to them, where in the line they stand; these differ where a label was decoded.
struct LabelList {
  std::span<const std::string_view> labels;
  std::span<const std::string_view> places;
  float importance = 1;  // of all together
};

// Closes the example(s) of a line. Keeps scratch memory, so it is not thread-safe.
class LabelChoice {
 public:
  // The options must outlive it.
  explicit LabelChoice(const ReadOptions& options) : options_(options) {}

  // Gives the open features of the batch to the label(s) that MultiLabel selects, with their importance in total.
  // Without labels, it makes one example with an empty label. Returns false if it makes none: the shares of a split are
  // 0, and ReadOptions::weights_required. Throws ParseError for the second label under MultiLabel::kError, for a
  // required label that is missing, for an unknown label, and if a split would make more than kMaxLineFeatures
  // features.
  bool finish(std::string_view line, const LabelList& list, const Origin& origin, Batch& batch);
  // With importance 1.
  bool finish(std::string_view line, std::span<const std::string_view> labels, const Origin& origin, Batch& batch) {
    return finish(line, LabelList{labels, labels}, origin, batch);
  }

 private:
  void finish_one(std::string_view line, const LabelList& list, std::size_t chosen, const Origin& origin, Batch& batch);
  std::size_t sampled(std::size_t labels, const Origin& origin) const;
  bool split(std::string_view line, const LabelList& list, const Origin& origin, Batch& batch);

  struct Feature {
    FeatureHash feature;
    float value;
  };
  const ReadOptions& options_;
  std::vector<Feature> features_;
};

}  // namespace cpt
