// --on-error over several ranks.
#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "mpi/job_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class BadLines : public JobTest {
 protected:
  // Three shards for three ranks, with 0, 2 and 3 bad lines among 400, 300 and 200 good ones.
  Words data() const {
    const std::string bad = "l1 |a f:nan\n";
    return {file("0.vw", stream(400, 1)), file("1.vw", bad + stream(300, 2) + bad),
            file("2.vw", stream(100, 3) + bad + bad + stream(100, 4) + bad)};
  }
};

TEST_F(BadLines, SkippedAreCounted) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const char* rule : {"skip", "skip:5"}) {
      const Outcome outcome = run(ranks, train(data(), {"--on-error", rule}));
      expect_complete(outcome);
      EXPECT_EQ(summary()["train"]["error_lines"], 5);
      EXPECT_EQ(summary()["train"]["examples"], 900);
      EXPECT_THAT(outcome.out, HasSubstr("5 bad lines skipped"));
    }
  }
}

// Each one with its place, and with the rank and host that met it.
TEST_F(BadLines, SkippedAreToldByRank0) {
  const Words shards = data();
  const Outcome outcome = run(3, train(shards, {"--on-error", "skip"}));
  expect_complete(outcome);
  const Words places{
      "rank 1 on [^ ]+: skipped: " + shards[1] + ":1:9: ", "rank 1 on [^ ]+: skipped: " + shards[1] + ":302:9: ",
      "rank 2 on [^ ]+: skipped: " + shards[2] + ":101:9: ", "rank 2 on [^ ]+: skipped: " + shards[2] + ":102:9: ",
      "rank 2 on [^ ]+: skipped: " + shards[2] + ":203:9: "};
  for (const std::string& place : places) {
    EXPECT_THAT(log(), Contains(ContainsRegex(" warning " + place)));
    EXPECT_THAT(lines_of(outcome.err), Contains(ContainsRegex("^cpt_dist: warning: " + place)));
  }
  const Words logged = log();
  EXPECT_EQ(std::count_if(logged.begin(), logged.end(),
                          [](const std::string& line) { return line.find(" warning ") != line.npos; }),
            5);
}

// What a line of the other formats means for the learner is nothing to guess, so the message says which one it was.
TEST_F(BadLines, AreExplained) {
  expect_failed(run_alone(train({file("bad.vw", "l1 |a f:nan\n")})), kBadData,
                ::testing::EndsWith("found 'nan'; the line was read as vw, like 'label |page word word2:0.5'; --format "
                                    "chooses another format"));
}

// As multi-label data sets have them, and as Vowpal Wabbit is told only to predict a line.
TEST_F(BadLines, AreNeitherUnlabelledLinesNorThoseOfNoImportance) {
  std::string plain;
  std::string with_others = "0:1 2:1\n";
  for (int i = 0; i < 300; ++i) {
    const std::string line = "l" + std::to_string(i % 7) + " " + std::to_string(i % 7) + ":1\n";
    plain += line;
    with_others += line + " 3:1\n";
  }
  expect_complete(run_alone(train({file("plain.svm", plain)})));
  const Json expected = summary();
  const Outcome outcome = run_alone(train({file("others.svm", with_others)}));
  expect_complete(outcome);
  for (const char* part : {"tree", "weights"}) EXPECT_EQ(summary()[part], expected[part]);
  EXPECT_EQ(summary()["train"]["log"], expected["train"]["log"]);
  EXPECT_EQ(summary()["train"]["error_lines"], 301);
  EXPECT_THAT(lines_of(outcome.err), Contains(HasSubstr("others.svm:1:1: expected a label, found '0:1'; further")));

  const std::string good = stream(300);
  expect_complete(run_alone(train({file("good.vw", good)})));
  const Json of_good = figures();
  for (const int ranks : {1, 2}) {
    expect_complete(run(ranks, train({file("zero.vw", "new 0 |a f\n" + good + "l1 0 tag|a f g\n")})));
    EXPECT_EQ(figures(), of_good);
  }
}

// A warning shows what the program makes of it.
TEST_F(BadLines, AreSuspectedWhereLinesHaveNoFeatures) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1|2|3\n2|3|4\n",
       ":1: is understood as label '1' and no feature, like 2 of the first 2 examples; the format is "
       "vw, like 'label |page word word2:0.5'"},
      {"a |x\nb |y\n", ":1: is understood as label 'a' and no feature, like 2 of the first 2 examples"},
      {"label|page\nl1|a f\nl2|a g\n", ":1: is understood as label 'label' and no feature, like 1 of the first 3"}};
  for (const auto& [content, warning] : cases) {
    const std::string data = file("odd.vw", content);
    const Outcome outcome = run_alone(train({data}));
    expect_complete(outcome);
    EXPECT_THAT(lines_of(outcome.err), Contains(HasSubstr("cpt_dist: warning: " + data + warning)));
  }
  const std::string data = file("good.vw", "l1 |a  |b \n" + stream(50));
  EXPECT_THAT(run_alone(train({data})).err, ::testing::Not(HasSubstr("warning")))
      << "a first line may have no features";
}

using SharedFile = JobTest;

TEST_F(SharedFile, OfTheSameContentAsAnotherIsAWarning) {
  const std::string first = file("first.vw", stream(50));
  const std::string copy = file("second.vw", stream(50));
  const Outcome outcome = run_alone(train({first, copy, file("third.vw", stream(49))}, {"--progress", "none"}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err),
              ::testing::ElementsAre("cpt_dist: warning: " + copy + ": has the size and the first bytes of " + first +
                                     "; if it is a copy, the same examples are learned twice"));
  const Outcome split = run_alone(train({first}, {"--split", "3", "--overwrite", "--progress", "none"}));
  expect_complete(split);
  EXPECT_EQ(split.err, "");
}

TEST_F(SharedFile, OfDataAndTestIsAWarning) {
  const std::string data = file("good.vw", stream(50));
  const Outcome outcome = run_alone(train({data}, {"--test", data}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err),
              Contains(HasSubstr("cpt_dist: warning: " + data + ": is read as --data and as --test")).Times(1));
  const Outcome apart = run_alone(train({data}, {"--test", file("other.vw", stream(50))}));
  expect_complete(apart);
  EXPECT_THAT(apart.err, ::testing::Not(HasSubstr("as --test")));
}

TEST_F(BadLines, AreNotThoseWithSeveralLabelsButThereIsAWarning) {
  const std::string data = file("several.txt", "__label__a one\n__label__a __label__b two\n__label__b three\n");
  const Outcome outcome = run_alone(train({data}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err), Contains(HasSubstr("cpt_dist: warning: " + data +
                                                        ": 1 of the first 3 lines have several labels, of which "
                                                        "--multilabel first keeps the first")));
  EXPECT_THAT(run_alone(train({data}, {"--multilabel", "split"})).err, ::testing::Not(HasSubstr("several labels")));
}

TEST_F(BadLines, AreNotThoseWithoutTheKeysThatAreNamedButThereIsAWarning) {
  const std::string data = file("good.vw", stream(50));
  const Outcome outcome = run_alone(train({data}, {"--label-key", "click"}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err), Contains(HasSubstr("cpt_dist: warning: " + data +
                                                        ": is vw, where no options of "
                                                        "keys or columns, such as --label-key, have an effect")));
  const std::string json = file("good.json", R"({"click": "a", "words": ["b", "c"]})"
                                             "\n");
  EXPECT_THAT(run_alone(train({json}, {"--label-key", "click"})).err, ::testing::Not(HasSubstr("warning")));
  const Words crossed{"--label-key", "click", "--text-keys", "title", "--interactions", "wu"};
  const std::string warning = "cpt_dist: warning: " + json + ": no line of the first 1 has ";
  EXPECT_THAT(lines_of(run_alone(train({json}, crossed)).err),
              AllOf(Contains(warning + "the key 'title' of --text-keys"),
                    Contains(HasSubstr(warning + "a namespace that begins with 'u', for --interactions wu"))));
}

TEST_F(BadLines, AreNotThoseOfATableWithoutAColumnToIgnore) {
  const std::string table = file("a.csv", "label,page,price\na,b,1\n");
  const Words ignoring = train({table}, {"--ignore-columns", "price,id"});
  const std::string lacks = ": no line of the first 2 has the column ";
  EXPECT_THAT(lines_of(run_alone(ignoring).err),
              Contains("cpt_dist: warning: " + table + lacks + "'id' of --ignore-columns"));
  const std::string other = file("b.csv", "label,page\na,b\n");
  const Outcome resumed = run_alone({"--run", run_directory().string(), "--resume", "--dry-run", "--data", other});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(lines_of(resumed.err), Contains("cpt_dist: warning: " + other + lacks + "'price' of --ignore-columns"));
}

TEST_F(BadLines, AreSkippedTogetherWithLinksToNothing) {
  const std::string folder = shards();
  std::filesystem::create_symlink("nowhere", folder + "/dead.vw");
  const std::string reason = folder + "/dead.vw: is a link to nothing";
  expect_failed(run_alone(train({folder})), kNoInput, HasSubstr(reason));
  const Outcome outcome = run(2, train({folder}, {"--on-error", "skip"}));
  expect_complete(outcome);
  EXPECT_THAT(lines_of(outcome.err), Contains("cpt_dist: warning: skipped: " + reason).Times(1));
}

TEST_F(BadLines, BeyondTheLimitEndTheJob) {
  for (const int ranks : {1, 2, 3, 5}) {
    expect_failed(start(ranks, train(data(), {"--on-error", "skip:4"}))->wait(kSoon), kBadData,
                  AllOf(HasSubstr("5 bad lines were skipped"), HasSubstr("4 that --on-error allows")));
  }
}

}  // namespace
}  // namespace cpt::testing
