// Options of other tools, as users type them by habit.
#include "app/shared/other_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cpt {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string in_dist(const std::vector<std::string>& words) {
  return describe_other_tools_option(words, Program::kCptDist);
}

std::string in_cpt(const std::vector<std::string>& words) { return describe_other_tools_option(words, Program::kCpt); }

TEST(OtherTools, AreNamedWithWhatServesHere) {
  EXPECT_EQ(in_dist({"-d"}), "-d is an option of Vowpal Wabbit; here: --data PATH");
  EXPECT_EQ(in_dist({"-epoch"}), "-epoch is an option of fastText; here: --passes N");
  EXPECT_EQ(in_dist({"--ensemble"}), "--ensemble is an option of napkinXC; here: --trees K");
  EXPECT_EQ(in_dist({"data=train.txt"}), "data= is an option of LightGBM; here: --data PATH");
  EXPECT_EQ(in_dist({"weight=name:w"}), "weight= is an option of LightGBM; here: --importance-column C");
}

TEST(OtherTools, AreRecognisedWithTheirValue) {
  EXPECT_THAT(in_dist({"-b24"}), StartsWith("-b is an option of Vowpal Wabbit; here: --bits"));
  for (const char* pair : {"-q", "-qcd", "-q::"}) {
    EXPECT_EQ(in_dist({pair}), "-q is an option of Vowpal Wabbit; here: --interactions AB") << pair;
  }
  EXPECT_THAT(in_dist({"-l0.5"}), HasSubstr("--learning-rate R"));
  EXPECT_THAT(in_dist({"--oaa=10"}), HasSubstr("--method oaa"));
}

TEST(OtherTools, WithoutACounterpartAreExplained) {
  for (const char* costs : {"--cb", "--cb_adf", "--csoaa_ldf"}) {
    EXPECT_THAT(in_dist({costs}), HasSubstr("here: leave it out, there are no costs and bandits")) << costs;
  }
  EXPECT_THAT(in_dist({"--multilabel_oaa=3"}), HasSubstr("a vw line has one label, and 1,2 is one"));
  EXPECT_THAT(in_dist({"--normalized"}), HasSubstr("here: leave it out, and scale features of huge values"));
  EXPECT_THAT(in_dist({"--ignore", "a"}), HasSubstr("remove namespaces of vw lines beforehand"));
  EXPECT_THAT(in_dist({"--noconstant"}), HasSubstr("every example has the constant feature"));
  EXPECT_THAT(in_dist({"-autotune-duration"}), StartsWith("-autotune-duration is an option of fastText; here: leave"));
  EXPECT_EQ(in_cpt({"--measures"}), "--measures is an option of napkinXC; here: cpt evaluate --k N,N");
}

TEST(OtherTools, TheFirstOneOfTheLineIsDescribed) {
  EXPECT_THAT(in_dist({"x", "-q", "ab", "-b", "24"}), StartsWith("-q "));
}

TEST(OtherTools, MeanSomethingElseToCpt) {
  EXPECT_EQ(in_dist({"-m"}), "-m is an option of napkinXC; here: --method M");
  EXPECT_EQ(in_cpt({"-m"}), "-m is an option of napkinXC; here: --model DIR");
  EXPECT_THAT(in_dist({"--model"}), StartsWith("--model is not an option; here: cpt predict --model MODEL to predict, "
                                               "--init MODEL to start from a model"));
  EXPECT_EQ(in_cpt({"--model"}), "");
  EXPECT_THAT(in_cpt({"--model", "-p"}),
              StartsWith("-p is an option of Vowpal Wabbit; here: --output FILE with cpt pr"));
  EXPECT_EQ(in_dist({"--output"}), "--output is an option of napkinXC; here: --run DIR, and the model is DIR/model");
  EXPECT_EQ(in_cpt({"--output"}),
            "--output is not an option; here: > FILE where a command prints its results; cpt convert IN OUT");
  EXPECT_THAT(in_dist({"-t"}), HasSubstr("--test PATH"));
  EXPECT_THAT(in_cpt({"-t"}), HasSubstr("here: leave it out, "));
}

TEST(OtherTools, OptionsTypedByHabitBelongToNone) {
  EXPECT_EQ(in_dist({"--k", "5"}), "--k is not an option; here: cpt predict --top N");
  EXPECT_EQ(in_cpt({"--init", "M"}), "--init is not an option; here: --model DIR");
  EXPECT_EQ(in_cpt({"--test", "D"}), "--test is not an option; here: --data PATH");
  EXPECT_EQ(in_dist({"--ranks", "4"}), "--ranks is not an option; here: mpirun -n N cpt_dist");
}

TEST(OtherTools, WordsOfNoToolAreNotDescribed) {
  EXPECT_EQ(in_dist({}), "");
  EXPECT_EQ(in_dist({"", "-", "=", "--", "--frobnicate", "data", "-bad", "--data=x", "x=1"}), "");
}

}  // namespace
}  // namespace cpt
