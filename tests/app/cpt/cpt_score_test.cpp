#include <nlohmann/json.hpp>

#include "app/program.h"
#include "cpt/losses.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ScoreTest : public TrainedTest {};

TEST_F(ScoreTest, PrintsTheProbabilityOfEachLinesOwnLabel) {
  EXPECT_EQ(results({"score", "--model", "model", "--data", "test.vw"}), printed_scores(model(), examples("test.vw")));
}

TEST_F(ScoreTest, ReadsTablesWithoutAHeader) {
  write("table.csv", "page,label\nw1,ad3\nw5,ad1\n");
  write("records", "w1\tad3\nw5\tad1\n");
  const Words score{"score", "--model", "model", "--data"};
  Words expected = results(score + Words{"table.csv"});
  ASSERT_EQ(expected.size(), 3U);
  expected.erase(expected.begin());  // the answer to the header
  EXPECT_EQ(results(score + Words{"records", "--columns", "page,label"}), expected);
  expect_failure(score + Words{"records", "--columns", "page,,label"}, 2, "'page,,label' is not a list with one comma");
}

TEST_F(ScoreTest, WritesAFile) {
  EXPECT_THAT(results({"score", "--model", "model", "--data", "test.vw", "--output", "scores"}), IsEmpty());
  EXPECT_EQ(lines_of(content_of(path("scores"))), printed_scores(model(), examples("test.vw")));
}

TEST_F(ScoreTest, AlsoScoresANamedLabel) {
  const Batch batch = examples("test.vw");
  Words expected = printed_scores(model(), batch);
  for (std::size_t i = 0; i < batch.size(); ++i) expected[i] += "\t" + printed(model().probability(batch[i], "ad3"));
  EXPECT_EQ(results({"score", "--model", "model", "--data", "test.vw", "--label", "ad3"}), expected);
}

TEST_F(ScoreTest, NamedLabelsFollowInTheirOrder) {
  write("labels.txt", "ad1\r\n\nad7\nad20\n");
  const Batch batch = examples("test.vw");
  Words expected = printed_scores(model(), batch);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (const char* label : {"ad9", "ad3", "ad1", "ad7", "ad20"}) {
      expected[i] += "\t" + printed(model().probability(batch[i], label));
    }
  }
  const Words score{"score", "--model", "model", "--data", "test.vw"};
  const Words labels{"--label", "ad9", "--labels", "labels.txt", "--label=ad3"};
  EXPECT_EQ(results(score + labels), expected);
  EXPECT_EQ(results(score + labels + Words{"--threads", "3"}), expected);
}

TEST_F(ScoreTest, NamesMayHaveBlanksCommasAndBrackets) {
  write("train.vw", R"({"label": "a b", "x": 1}
{"label": "[a,b]", "y": 1}
{"label": "c,d", "z": 1}
)");
  Model odd(model_options());
  learn_and_save(odd, "odd");
  write("labels.txt", "a b\n");
  write("one.vw", "|page w1\n");
  const Words line = results(
      {"score", "--model", "odd", "--data", "one.vw", "--label", "[a,b]", "--label", "c,d", "--labels", "labels.txt"});
  EXPECT_THAT(line, ElementsAre(::testing::MatchesRegex("-\t0[.]\\S+\t0[.]\\S+\t0[.]\\S+")));
}

TEST_F(ScoreTest, PrintsObjects) {
  write("mixed.vw", page_log(3, kLabels, 6) + "|page w1\n\nnew |page w1\n|page w1:x\n");
  const Words score{"score", "--model", "model", "--data", "mixed.vw", "--label", "ad9", "--label", "ad3"};
  const Words more{"--with-lines", "--on-error", "answer"};
  const Words plain = results(score + more);
  const Words lines = results(score + more + Words{"--json"});
  ASSERT_EQ(lines.size(), 7U);
  std::vector<Words> names(6);  // by line, the own label with a ! behind it
  for (std::size_t i = 0; i < names.size(); ++i) {
    const json line = json::parse(lines[i]);
    EXPECT_EQ(line.at("line"), "mixed.vw:" + std::to_string(i + 1));
    Words columns;
    for (const json& one : line.at("predictions")) {
      const bool own = one.contains("own");
      if (names[i].empty() && !own) columns.emplace_back("-");
      columns.push_back(printed(one.at("probability").get<double>()));
      names[i].push_back(one.at("label").get<std::string>() + (own ? "!" : ""));
    }
    EXPECT_EQ(Words{"mixed.vw:" + std::to_string(i + 1)} + columns, words_of(plain[i]));
  }
  EXPECT_THAT(names[3], ElementsAre("ad9", "ad3"));
  EXPECT_THAT(names[4], IsEmpty());
  EXPECT_THAT(names[5], ElementsAre("new!", "ad9", "ad3"));
  EXPECT_EQ(lines[4], R"({"line": "mixed.vw:5", "predictions": []})");
  EXPECT_THAT(lines[6], ::testing::StartsWith(R"({"line": "mixed.vw:7", "error": "mixed.vw:7:10: expected)"));
}

TEST_F(ScoreTest, ObjectsHoldAllLabelsOfALine) {
  Model plain({.bits = 12});
  plain.save(path("plain"));
  write("several.svm", "1,2 4:1\n");
  EXPECT_THAT(results({"score", "--model", "plain", "--data", "several.svm", "--multilabel", "split", "--json"}),
              ElementsAre(R"({"predictions": [{"label": "1", "probability": 0, "own": true}, )"
                          R"({"label": "2", "probability": 0, "own": true}]})"));
}

TEST_F(ScoreTest, AListOfLabelsThatHasNoneIsRefused) {
  write("empty.txt", "\n");
  const Words score{"score", "--model", "model", "--data", "test.vw", "--labels"};
  expect_failure(score + Words{"empty.txt"}, 65, "empty.txt:1: expected a label, found none: the list of labels is");
  expect_failure(score + Words{"none.txt"}, 66, "none.txt: ");
}

TEST_F(ScoreTest, LabelsThatTheModelHasNotMetHaveProbabilityZero) {
  write("new.vw", "new |page w1\n");
  EXPECT_THAT(results({"score", "--model", "model", "--data", "new.vw"}), ElementsAre("0"));
}

TEST_F(ScoreTest, LinesNeedALabelUnlessOneIsNamed) {
  write("bare.vw", "|page w1\n");
  const Outcome outcome = run({"score", "--model", "model", "--data", "bare.vw"});
  EXPECT_EQ(outcome.code, 65);
  EXPECT_THAT(outcome.err, HasSubstr("bare.vw:1:1: expected a label"));
  const std::string p = printed(model().probability(examples("bare.vw")[0], "ad3"));
  EXPECT_THAT(results({"score", "--model", "model", "--data", "bare.vw", "--label", "ad3"}), ElementsAre("-\t" + p));
}

TEST_F(ScoreTest, EveryLineIsAnswered) {
  Model plain({.bits = 12});
  plain.save(path("plain"));
  write("several.svm", "3 5 2\n1,2 4:1\n 4:1\n\n4:1\n7 4:1\n");
  const Outcome outcome =
      run({"score", "--model", "plain", "--data", "several.svm", "--multilabel", "split", "--with-lines"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out), ElementsAre("several.svm:1\t", "several.svm:2\t0\t0", "several.svm:3\t",
                                                 "several.svm:4\t", "several.svm:5\t", "several.svm:6\t0"));
  EXPECT_EQ(outcome.err,
            "cpt: skipped: several.svm:3:2: expected a label, found '4:1'; further lines without a label are skipped "
            "and counted, but not listed\ncpt: 2 bad lines skipped\n");
}

TEST_F(ScoreTest, TagsStandBeforeTheirScores) {
  write("tags.vw", "ad1 1 'one|page w1\nad1 1 two|page w1\nad1 |page w1\n\n");
  const std::string p = printed(model().probability(examples("tags.vw")[0], "ad1"));
  EXPECT_THAT(results({"score", "--model", "model", "--data", "tags.vw", "--with-tags"}),
              ElementsAre("one\t" + p, "two\t" + p, "\t" + p, "\t"));
}

TEST_F(ScoreTest, BadLinesAreInTheSummary) {
  write("bad.vw", "ad1 |page w1\n|page w1\n|page w1\n");
  const Outcome outcome = run({"score", "--model", "model", "--data", "bad.vw", "--summary", "--on-error", "skip"});
  EXPECT_THAT(outcome.err, HasSubstr("examples       1\nnew labels     0\nbad lines      2 skipped\nsquared "));
}

TEST_F(ScoreTest, LinesOfNoImportanceAreLeftOutOfTheSummary) {
  write("none.vw", "ad1 0 |page w1\n");
  const Outcome outcome = run({"score", "--model", "model", "--data", "none.vw", "--summary"});
  EXPECT_THAT(lines_of(outcome.out), ::testing::SizeIs(1));
  EXPECT_EQ(outcome.err,
            "examples       0\nnew labels     0\nsquared        -\nsquared seen   -\nlog            -\n"
            "log seen       -\nbest possible  -\n");
}

TEST_F(ScoreTest, NoSeenLabelsHaveNoMeanLoss) {
  write("new.vw", "never |page w1\n");
  EXPECT_THAT(run({"score", "--model", "model", "--data", "new.vw", "--summary"}).err,
              ::testing::AllOf(HasSubstr("squared        1.000000 +- "), HasSubstr("squared seen   -\n"),
                               HasSubstr("log seen       -\n")));
}

TEST_F(ScoreTest, SummaryIsTheMeanLosses) {
  write("mixed.vw", page_log(20, kLabels, 6) + "new 3 |page w1\nad1 2.5 |page w1\n");
  const Batch batch = examples("mixed.vw");
  Losses losses;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const ExampleView x = batch[i];
    const auto importance = static_cast<double>(x.importance);
    if (x.label == "new") {
      losses.add_new(importance);
    } else {
      losses.add_seen(importance, model().probability(x, x.label));
    }
  }
  const Outcome outcome = run({"score", "--model", "model", "--data", "mixed.vw", "--summary"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out), ::testing::SizeIs(22));
  EXPECT_THAT(lines_of(outcome.err), ElementsAre("examples       22", "new labels     1",
                                                 "squared        " + std::to_string(losses.mean_squared()) + " +- " +
                                                     std::to_string(losses.squared_interval()),
                                                 "squared seen   " + std::to_string(losses.mean_squared_seen()),
                                                 "log            " + std::to_string(losses.mean_log()),
                                                 "log seen       " + std::to_string(losses.mean_log_seen()),
                                                 ::testing::StartsWith("best possible  ")));
}

TEST_F(ScoreTest, ThreadsChangeNothing) {
  write("more.vw", page_log(2000, kLabels + 3, 6));
  const Words score{"score", "--model", "model", "--data", "more.vw", "--label", "ad3", "--summary", "--threads"};
  const Outcome one = run(score + Words{"1"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(lines_of(one.out), ::testing::SizeIs(2000));
  for (const char* threads : {"2", "5"}) {
    const Outcome several = run(score + Words{threads});
    EXPECT_EQ(several.code, 0);
    EXPECT_EQ(several.out, one.out);
    EXPECT_EQ(several.err, one.err);
  }
}

TEST_F(ScoreTest, SaysThatTheModelDoesNotKnowTheNamedLabel) {
  write("new.vw", "new |page w1\n");
  const Words score{"score", "--model", "model", "--data", "new.vw", "--label"};
  const Outcome outcome = run(score + Words{"typo"});
  EXPECT_EQ(outcome.out, "0\t0\n");
  EXPECT_EQ(outcome.err, "cpt: warning: --label: the model does not know 'typo', so its probability is 0\n");
  EXPECT_EQ(run(score + Words{"ad3"}).err, "");
  write("labels.txt", "ad3\nodd\nad4\neven\n");
  const Outcome several = run(score + Words{"typo", "--labels", "labels.txt"});
  EXPECT_EQ(several.err, outcome.err +
                             "cpt: warning: --labels: the model does not know 'odd' and 1 more of 4, so their "
                             "probabilities are 0\n");
  EXPECT_THAT(lines_of(several.out).at(0), ::testing::MatchesRegex("0\t0\t[^\t]+\t0\t[^\t]+\t0"));
}

TEST_F(ScoreTest, NoDataIsNoScore) {
  write("nothing.vw", "");
  EXPECT_THAT(results({"score", "--model", "model", "--data", "nothing.vw"}), IsEmpty());
}

}  // namespace
}  // namespace cpt
