// Failures of cpt: the exit code and the line that gives the reason; and the texts of --help and --version.
#include <sys/stat.h>

#include <algorithm>
#include <new>

#include "app/program.h"
#include "app/shared/process.h"
#include "core/version.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ErrorsTest : public TrainedTest {};

TEST_F(ErrorsTest, UsageErrors) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "cpt: A subcommand is required (see cpt --help)"},
      {"frobnicate", "cpt: no command 'frobnicate' (see cpt --help)"},
      {"evaluat --model model", "cpt: no command 'evaluat'; did you mean evaluate? (see cpt --help)"},
      {"test --model model --data test.vw", "cpt: no command 'test'; here: cpt evaluate (see cpt --help)"},
      {"train --data test.vw", "cpt: no command 'train'; here: cpt_dist --data PATH (see cpt --help)"},
      {"--frobnicate", "cpt: no command before --frobnicate (see cpt --help)"},
      {"--model model --data test.vw", "cpt: no command before --model (see cpt --help)"},
      {"--top 5 predict --model model --data test.vw", "cpt: no command before --top (see cpt --help)"},
      {"predict", "cpt predict: --model is required (see cpt predict --help)"},
      {"predict --model model --data x -K 3", "cpt predict: not expected: -K 3 (see cpt predict --help)"},
      {"predict --model model --data x --k 5", "cpt predict: --k is not an option; here: cpt predict --top N ("},
      {"predict --model model --dta x --to 5", "cpt predict: not expected: --dta x --to 5; did you mean --data? ("},
      {"predict -m model x", "cpt predict: -m is an option of napkinXC; here: --model DIR ("},
      {"predict -t -i model -d x", "cpt predict: -t is an option of Vowpal Wabbit; here: leave it out, "},
      {"-i model", "cpt: -i is an option of Vowpal Wabbit; here: --data PATH for data; "},
      {"predict --model model --data test.vw --output= --learn", "cpt: --output is empty ("},
      {"checkpoint lst run", "cpt checkpoint: no command 'lst'; did you mean list? (see cpt checkpoint --help)"},
      {"checkpoint prune run --keep 0", "(see cpt checkpoint prune --help)"},
      {"predict --model model", "--data is required"},
      {"predict --model model --data", "--data"},
      {"predict --model model --data test.vw --top 0", "--top: '0' is not a whole number of at least 1"},
      {"predict --model model --data test.vw --top -1", "--top: '-1' is not a whole number"},
      {"predict --model model --data test.vw --top x", "--top"},
      {"predict --model model --data test.vw --threshold 1.5", "--threshold: '1.5' is not in [0, 1]"},
      {"predict --model model --data test.vw --threshold nan", "--threshold: 'nan' is not in [0, 1]"},
      {"predict --model model --data test.vw --learn --frozen", "--learn excludes --frozen"},
      {"predict --model model --data test.vw --format xml", "'xml' is none of: auto"},
      {"predict --model model --data test.vw --on-error skip:", "--on-error: 'skip:' is none of"},
      {"predict --model model --data test.vw --on-error ski",
       "--on-error: 'ski' is none of: stop, skip, skip:N, answer"},
      {"score --model model --data test.vw --frobnicate", "--frobnicate"},
      {"predict --model model --data test.vw --label-key x",
       "cpt predict: --label-key comes from the model: leave it out ("},
      {"evaluate --model model --data test.vw --ngrams 2",
       "cpt evaluate: --ngrams comes from the model: leave it out ("},
      {"predict --init model --data test.vw", "cpt predict: --init is not an option; here: --model DIR ("},
      {"predict --model model --test test.vw", "cpt predict: --test is not an option; here: --data PATH ("},
      {"predict --model model --data model", "cpt: --data model is a model or a checkpoint, not data"},
      {"predict --model model --top 1 --top 2",
       "cpt predict: --top takes one value, and was given 2 (see cpt predict --help)"},
      {"dump", "cpt dump: --model is required"},
      {"explain --model model --data test.vw --top -1", "--top: '-1' is not a whole number"},
      {"explain --model model", "cpt explain: --data is required"},
  };
  for (const auto& [arguments, reason] : cases) expect_failure(words_of(arguments), 2, reason);
}

TEST_F(ErrorsTest, MissingInput) {
  std::filesystem::create_directory(path("empty"));
  for (const char* command : {"predict", "score", "evaluate", "explain"}) {
    expect_failure({command, "--model", "model", "--data", "none.vw"}, 66, "'none.vw'");
    expect_failure({command, "--model", "none", "--data", "test.vw"}, 66,
                   "none: not a finished cpt model, no such directory");
  }
  std::filesystem::create_directory(path("run"));
  write("run/lock", "");
  write("run/metrics.jsonl", "");
  for (const char* command : {"inspect", "dump"}) {
    expect_failure({command, "--model", "run"}, 66,
                   "cpt: run: is a run without a model: it has not finished, or learned nothing");
    expect_failure({command, "--model", "none"}, 66, "none: not a finished cpt model, no such directory");
    expect_failure({command, "--model", "."}, 66, "cpt: .: is not a model; did you mean ./model?");
    expect_failure({command, "--model", "empty"}, 66, "empty: not a finished cpt model, it has no MANIFEST");
  }
}

TEST_F(ErrorsTest, BadData) {
  write("value.vw", "ad1 |page w1\nad1 |page w1:x\n");
  write("what.txt", "what is this\n");
  for (const char* command : {"predict", "score", "evaluate", "explain"}) {
    const Outcome outcome = run({command, "--model", "model", "--data", "value.vw"});
    EXPECT_EQ(outcome.code, 65);
    EXPECT_THAT(outcome.err,
                MatchesRegex("cpt: value\\.vw:2:14: expected .*, found 'x'; the line was read as vw, .*\n"));
    expect_failure({command, "--model", "model", "--data", "what.txt"}, 65, "what.txt:1:1: expected a line in vw");
  }
}

TEST_F(ErrorsTest, AJsonArrayIsNoFormatOfLines) {
  write("array.json", "[\n{\"label\": \"a\"},\n{\"label\": \"b\"}\n]\n");
  expect_failure({"predict", "--model", "model", "--data", "array.json"}, 65,
                 "found '['; json is read as one object a line: jq -c '.[]' FILE makes such lines");
}

// Labels are what tells fasttext, and a name what tells csv, so neither is known of a pipe without labels.
TEST_F(ErrorsTest, UnknownFormatNamesThatOfTheModel) {
  const std::string reason =
      "cpt: standard input:1:1: expected a line in vw, libsvm, fasttext or json format, found 'what is this'; "
      "name the format with --format, such as --format csv for a table";
  EXPECT_EQ(run({"predict", "--model", "model", "--data", "-"}, "what is this\n").err, reason + "\n");
  model().learner().set_input({.format = "fasttext", .name_spaces = {}, .features = {}});
  model().save(path("fasttext"));
  EXPECT_EQ(run({"predict", "--model", "fasttext", "--data", "-"}, "what is this\n").err,
            reason + "; the model was trained on fasttext: --format fasttext\n");
}

TEST_F(ErrorsTest, InteractionsNeedNamespaces) {
  write("test.svm", "1 1:2 3:4\n");
  expect_failure({"predict", "--model", "model", "--data", "test.svm"}, 2, "interactions");
}

// A byte flipped in the middle of any file of a model, and any file cut short.
TEST_F(ErrorsTest, DamagedModel) {
  for (const auto& file : std::filesystem::directory_iterator(path("model"))) {
    const std::string name = "model/" + file.path().filename().string();
    const std::string whole = content_of(file.path());
    std::string flipped = whole;
    flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
    for (const std::string& damaged : {flipped, whole.substr(0, whole.size() - 1)}) {
      write(name, damaged);
      expect_failure({"predict", "--model", "model", "--data", "test.vw"}, 65, "model");
      expect_failure({"dump", "--model", "model"}, 65, "model");
    }
    write(name, whole);
  }
  EXPECT_EQ(run({"dump", "--model", "model"}).code, 0);
}

// The program would wait for a writer otherwise.
TEST_F(ErrorsTest, APipeAmongTheFilesOfAModel) {
  for (const auto& file : std::filesystem::directory_iterator(path("model"))) {
    const std::string name = "model/" + file.path().filename().string();
    std::filesystem::rename(path(name), path("kept"));
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    const Outcome outcome = run({"predict", "--model", "model", "--data", "test.vw"});
    EXPECT_THAT(outcome.code, ::testing::AnyOf(65, 66));
    EXPECT_THAT(outcome.err, StartsWith("cpt: " + name + ": "));
    std::filesystem::rename(path("kept"), path(name));
  }
}

TEST_F(ErrorsTest, AFullDisk) {
  for (const char* command : {"--help", "--version", "predict --help", "score --model model --data test.vw",
                              "inspect --model model", "explain --model model --data test.vw", "dump --model model"}) {
    SCOPED_TRACE(command);
    const Outcome outcome = run(words_of(command), "", "/dev/full");
    EXPECT_EQ(outcome.code, 73);
    EXPECT_EQ(outcome.err, "cpt: standard output: write failed: No space left on device\n");
  }
}

TEST(ReportFailure, SaysWhatHelpsWhereMemoryIsShort) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure("cpt", std::bad_alloc()), 1);
  EXPECT_EQ(report_failure("cpt_dist", std::bad_alloc(), "use fewer --bits"), 1);
  EXPECT_EQ(report_failure("cpt_dist", Error(Fault::kUsage, "no"), "use fewer --bits"), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "cpt: out of memory\ncpt_dist: out of memory; use fewer --bits\ncpt_dist: no\n");
}

class FaceTest : public ProgramTest {};

TEST_F(FaceTest, VersionNamesTheBuild) {
  EXPECT_THAT(results({"--version"}), ::testing::ElementsAre(std::string("cpt ") + kVersion,
                                                             std::string("Commit ") + kCommit + ", " + kCompiler));
}

TEST_F(FaceTest, HelpNamesTheCommandsAndEveryCommandHasAnExample) {
  const Words help = results({"--help"});
  const std::vector<std::pair<std::string, std::string>> commands{
      {"predict", "--model "}, {"score", "--model "}, {"inspect", "--model "},  {"explain", "--model "},
      {"dump", "--model "},    {"convert", ""},       {"evaluate", "--model "}, {"synth", "web-ads "},
      {"synth web-ads", ""},   {"checkpoint", ""}};
  for (const auto& [command, argument] : commands) {
    EXPECT_THAT(help, Contains(StartsWith("  " + words_of(command)[0] + " ")));
    const Words its_help = results(words_of(command + " --help"));
    const auto head = std::ranges::find_if(its_help, [](const auto& line) { return line.starts_with("Example"); });
    ASSERT_NE(head, its_help.end()) << command;
    const Words examples(head + 1, std::find(head, its_help.end(), ""));
    EXPECT_EQ(*head, examples.size() == 1 ? "Example:" : "Examples:") << command;
    EXPECT_THAT(examples, ::testing::Each(HasSubstr("cpt " + command + " " + argument)));
  }
}

TEST_F(FaceTest, HelpFitsIntoAHundredColumns) {
  for (const char* command :
       {"", "predict", "score", "evaluate", "inspect", "explain", "dump", "convert", "synth", "synth web-ads",
        "checkpoint", "checkpoint list", "checkpoint verify", "checkpoint prune"}) {
    for (const std::string& line : results(words_of(std::string(command) + " --help"))) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
  EXPECT_THAT(results({"predict", "--help"}), Contains("                                    without labels"));
}

}  // namespace
}  // namespace cpt
