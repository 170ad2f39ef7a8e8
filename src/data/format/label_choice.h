// What becomes of several labels on one line.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/format/read_options.h"

namespace cpt {

// What is expected where there is no label, or one that ReadOptions::knows_label does not know.
inline constexpr const char* kLabelExpected = "a label";
inline constexpr const char* kKnownLabelExpected = "one of the labels that the run was begun with";

// Throws ParseError where ReadOptions::knows_label says that a label is unknown.
void require_known(std::string_view line, std::string_view label, const ReadOptions& options);

// Closes the example(s) of a line. Keeps scratch memory, so it is not thread-safe.
class LabelChoice {
 public:
  // The options must outlive it.
  explicit LabelChoice(const ReadOptions& options) : options_(options) {}

  // Gives the open features of the batch to the label(s) that MultiLabel says, importance 1 in total. No label at all
  // makes one example with an empty label. Throws ParseError of the second label under MultiLabel::kError, where a
  // label is missing but required or is unknown, and where splitting would make more than kMaxLineFeatures features.
  void finish(std::string_view line, std::span<const std::string_view> labels, const Origin& origin, Batch& batch);

 private:
  void finish_one(std::string_view line, std::string_view label, const Origin& origin, Batch& batch);
  std::size_t sampled(std::size_t labels, const Origin& origin) const;
  void split(std::string_view line, std::span<const std::string_view> labels, const Origin& origin, Batch& batch);

  struct Feature {
    FeatureHash feature;
    float value;
  };
  const ReadOptions& options_;
  std::vector<Feature> features_;
};

}  // namespace cpt
