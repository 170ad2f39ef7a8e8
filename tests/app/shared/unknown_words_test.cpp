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

// A command of cpt that reads a model: what is advised is an option that it has, or names the program that has it.
TEST_F(UnknownWords, OptionsOfOtherToolsAreExplainedForTheCommand) {
  CLI::App command("", "predict");
  std::string text;
  command.add_option("--model", text);
  command.add_option("--data", text);
  const auto here = [&](const char* word) {
    const std::string message = describe_unknown_words(command, {word}, Program::kCpt);
    return message.substr(message.find("here: "));
  };
  for (const char* of_model : {"-q", "-qcd", "-l", "--random_seed", "--ensemble", "-wordNgrams", "--plt", "-b"}) {
    EXPECT_EQ(here(of_model), "here: leave it out, it comes from the model") << of_model;
  }
  EXPECT_EQ(here("-epoch"), "here: cpt_dist --passes N");
  EXPECT_EQ(here("-autotune-validation"), "here: cpt_dist --validate PATH --keep-best log");
  EXPECT_EQ(here("-f"), "here: cpt_dist --run DIR, and the model is DIR/model");
  EXPECT_EQ(here("--quiet"), "here: leave it out; warnings go to standard error");
  EXPECT_EQ(here("-output"), "here: --output FILE with cpt predict, score and dump, > FILE with other commands");
  EXPECT_EQ(here("--topK"), "here: cpt predict --top N, cpt evaluate --k N");
  EXPECT_EQ(here("-d"), "here: --data PATH, or cpt convert IN OUT");
}

}  // namespace
}  // namespace cpt
