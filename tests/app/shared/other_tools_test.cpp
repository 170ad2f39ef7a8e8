// Options of other tools, as users type them by habit.
#include "app/shared/other_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cpt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(OtherTools, AreNamedWithWhatServesHere) {
  EXPECT_EQ(describe_other_tools_option({"-d"}), "-d is an option of Vowpal Wabbit; here: --data PATH");
  EXPECT_EQ(describe_other_tools_option({"-epoch"}), "-epoch is an option of fastText; here: --passes N");
  EXPECT_EQ(describe_other_tools_option({"--ensemble"}), "--ensemble is an option of napkinXC; here: --trees K");
  EXPECT_EQ(describe_other_tools_option({"data=train.txt"}), "data= is an option of LightGBM; here: --data PATH");
  EXPECT_EQ(describe_other_tools_option({"weight=name:w"}),
            "weight= is an option of LightGBM; here: --importance-column C");
}

TEST(OtherTools, AreRecognisedWithTheirValue) {
  EXPECT_THAT(describe_other_tools_option({"-b24"}), StartsWith("-b is an option of Vowpal Wabbit; here: --bits"));
  EXPECT_THAT(describe_other_tools_option({"-l0.5"}), HasSubstr("--learning-rate R"));
  EXPECT_THAT(describe_other_tools_option({"--oaa=10"}), HasSubstr("--method oaa"));
}

TEST(OtherTools, TheFirstOneOfTheLineIsDescribed) {
  EXPECT_THAT(describe_other_tools_option({"x", "-q", "ab", "-b", "24"}), StartsWith("-q "));
}

TEST(OtherTools, WordsOfNoToolAreNotDescribed) {
  EXPECT_EQ(describe_other_tools_option({}), "");
  EXPECT_EQ(describe_other_tools_option({"", "-", "=", "--", "--frobnicate", "data", "-bad", "--data=x", "x=1"}), "");
}

}  // namespace
}  // namespace cpt
