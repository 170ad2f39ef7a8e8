#include <gtest/gtest.h>

#include <string>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

Read libsvm(std::string_view line, const ReadOptions& options = {}) {
  return parse_one(Format::kLibsvm, line, options);
}

TEST(LibsvmParser, ReadsLabelAndIndexedValues) {
  const Read read = libsvm("93 2148:0.134951\t3678:-2  9:+.5 ");
  EXPECT_EQ(read.label, "93");
  EXPECT_EQ(read.x, features({{"", "2148", 0.134951F}, {"", "3678", -2}, {"", "9", 0.5F}}));
}

TEST(LibsvmParser, FeaturesEqualThoseOfVwWithTheSameName) {
  EXPECT_EQ(libsvm("y 12:3 5:1"), parse_one(Format::kVw, "y | 12:3 5"));
}

TEST(LibsvmParser, AnIndexIsANumberNotItsText) {
  EXPECT_EQ(libsvm("y 007:2 0:1 000:1").x, features({{"", "7", 2}, {"", "0", 2}}));
  EXPECT_EQ(libsvm("y 18446744073709551615:1").x, features({{"", "18446744073709551615"}}));
}

TEST(LibsvmParser, ALineMayHaveNoFeatures) { EXPECT_EQ(libsvm("93").x, Features()); }

TEST(LibsvmParser, LabelMayBeMissingIfNotRequired) {
  ReadOptions options;
  options.labels_required = false;
  EXPECT_EQ(libsvm("3:1", options).label, "");
  EXPECT_EQ(libsvm("8 3:1", options).label, "8");
}

TEST(LibsvmParser, FirstLineMayBeAnXmcHeader) {
  const Folder folder;
  EXPECT_EQ(labels_of(read_all({folder.write("a", "2 10 5\n3 1:1\n4 2:1\n")})), "3 4");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({folder.write("b", "3 1:1\n2 10 5\n")}); }),
            folder.path("b") + ":2:3: expected index:value, found '10'");
}

}  // namespace
}  // namespace cpt
