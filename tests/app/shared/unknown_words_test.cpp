// Words that no command understands: what is printed about them.
#include "app/shared/unknown_words.h"

#include <gtest/gtest.h>

namespace cpt {
namespace {

TEST(SuggestName, IsTheNearest) {
  const std::vector<std::string> names{"bits", "data", "test", "test-frozen", "interactions", "top", "validate-every"};
  EXPECT_EQ(suggest_name("bitz", names), "; did you mean bits?");
  EXPECT_EQ(suggest_name("dta", names, "--"), "; did you mean --data?");
  EXPECT_EQ(suggest_name("tset", names), "; did you mean test?") << "two edits of four letters";
  EXPECT_EQ(suggest_name("interaction", names), "; did you mean interactions?");
  EXPECT_EQ(suggest_name("tes", names), "; did you mean test?") << "the shortest that begins so";
  EXPECT_EQ(suggest_name("val", names), "; did you mean validate-every?");
}

TEST(SuggestName, IsNoneThatIsFar) {
  const std::vector<std::string> names{"bits", "top", "validate-every"};
  for (const char* word : {"", "k", "ot", "dot", "va", "frobnicate"}) EXPECT_EQ(suggest_name(word, names), "") << word;
  EXPECT_EQ(suggest_name("bits", {}), "");
}

class UnknownWords : public ::testing::Test {
 protected:
  UnknownWords() : command_("", "cpt") { command_.add_option("--top,--best", top_); }

  std::string message(const std::vector<std::string>& words) const {
    return describe_unknown_words(command_, words, Program::kCpt);
  }

 private:
  CLI::App command_;
  int top_ = 0;
};

TEST_F(UnknownWords, AreNamedInTheirOrder) {
  EXPECT_EQ(message({"5", "a b"}), "not expected: 5 a b");
  EXPECT_EQ(message({"--frobnicate", "5"}), "not expected: --frobnicate 5");
}

TEST_F(UnknownWords, TheFirstOptionAmongThemGetsASuggestion) {
  EXPECT_EQ(message({"5", "--topp", "6"}), "not expected: 5 --topp 6; did you mean --top?");
  EXPECT_EQ(message({"--bets=5"}), "not expected: --bets=5; did you mean --best?");
  EXPECT_EQ(message({"-top", "5"}), "not expected: -top 5; did you mean --top?");
  EXPECT_EQ(message({"top"}), "not expected: top");
}

TEST_F(UnknownWords, OptionsThatAModelKeepsAreNamed) {
  EXPECT_EQ(message({"--label-key", "x"}), "not expected: --label-key x") << "the command reads no model";
  CLI::App command("", "predict");
  std::string model;
  command.add_option("--model", model);
  for (const char* word : {"--label-key", "--label-column", "--text-keys", "--seed", "--normalize", "--interactions",
                           "--ngrams=2", "--bits"}) {
    const std::string name = std::string(word).substr(0, std::string_view(word).find('='));
    EXPECT_EQ(describe_unknown_words(command, {word, "x"}, Program::kCpt),
              name + " comes from the model: leave it out");
  }
  EXPECT_EQ(describe_unknown_words(command, {"--run"}, Program::kCpt), "not expected: --run");
}

TEST_F(UnknownWords, OptionsOfOtherToolsAreExplainedFirst) {
  EXPECT_EQ(message({"--tpo", "-m", "model"}), "-m is an option of napkinXC; here: --model DIR");
}

}  // namespace
}  // namespace cpt
