#include <gtest/gtest.h>

#include "data/reading.h"

namespace cpt {
namespace {

Read fasttext(std::string_view line, const ReadOptions& options = {}) {
  return parse_one(Format::kFasttext, line, options);
}

TEST(FasttextParser, WordsAreFeaturesAndRepeatsAddUp) {
  const Read read = fasttext("__label__spam buy now\tbuy 3:4 |x ");
  EXPECT_EQ(read.label, "spam");
  EXPECT_EQ(read.x, features({{"", "buy", 2}, {"", "now"}, {"", "3:4"}, {"", "|x"}}));
}

TEST(FasttextParser, LabelsAreNeverFeatures) {
  EXPECT_EQ(fasttext("__label__a w __label__b").x, features({{"", "w"}}));
}

TEST(FasttextParser, LabelMayBeMissingIfNotRequired) {
  ReadOptions options;
  options.labels_required = false;
  EXPECT_EQ(fasttext("buy now", options).label, "");
  EXPECT_EQ(fasttext("__label__x buy", options).label, "x");
}

}  // namespace
}  // namespace cpt
