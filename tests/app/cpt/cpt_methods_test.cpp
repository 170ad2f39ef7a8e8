// The commands on models of methods that are no trees.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "model/estimators/estimator.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kOneLine = "ad3 |page w3 w5:0.5 |user u3\n";

class MethodsTest : public TrainedTest {
 protected:
  // Learns the training lines by a method; the model is written as "other".
  Model train_by(Method method) {
    ModelOptions options = model_options();
    options.method = method;
    options.bits = 14;
    Model other(options);
    learn_and_save(other, "other");
    return other;
  }
};

TEST_F(MethodsTest, OneAgainstAllPredictsAndScores) {
  const Model other = train_by(Method::kOneAgainstAll);
  const Batch batch = examples("test.vw");
  Words predictions;
  for (std::size_t i = 0; i < batch.size(); ++i) predictions.push_back(printed(other.top_k(batch[i], 3)));
  EXPECT_EQ(results({"score", "--model", "other", "--data", "test.vw"}), printed_scores(other, batch));
  EXPECT_EQ(results({"predict", "--model", "other", "--data", "test.vw", "--top", "3"}), predictions);
}

TEST_F(MethodsTest, InspectLeavesOutTheTreeOfAMethodThatHasNone) {
  train_by(Method::kOneAgainstAll);
  const Words lines = results({"inspect", "--model", "other"});
  EXPECT_THAT(lines, Contains("labels         40"));
  EXPECT_THAT(lines, Contains(HasSubstr("method oaa")));
  for (const char* absent : {"nodes", "blocks", "depth", "disagreements"}) {
    EXPECT_THAT(lines, Not(Contains(StartsWith(absent))));
  }
  const auto tree = nlohmann::json::parse(run({"inspect", "--model", "other", "--json"}).out)["tree"];
  EXPECT_EQ(tree["labels"], 40);
  EXPECT_FALSE(tree.contains("depth_max"));
  EXPECT_FALSE(tree.contains("labels_at_depth"));
}

TEST_F(MethodsTest, NoTreeIsShownOfAMethodThatHasNone) {
  train_by(Method::kOneAgainstAll);
  const std::string reason = "made with --method oaa, which has no tree to show";
  expect_failure({"inspect", "--model", "other", "--label", "ad3"}, 2, reason);
  expect_failure({"inspect", "--model", "other", "--dot", "-"}, 2, reason);
  expect_failure({"dump", "--model", "other"}, 2, reason);
}

TEST_F(MethodsTest, LabelsThatPecocDoesNotKnowAreNotLearned) {
  ModelOptions options = model_options();
  options.method = Method::kPecoc;
  Model pecoc(std::make_unique<Learner>(options));
  for (const LabelId label : {0U, 1U})
    pecoc.learner().apply({"ad" + std::to_string(label), {label == 0 ? kNoLabel : complete_split(label)}, 0});
  pecoc.save(path("pecoc"));
  write("mixed.vw", "ad1 |page w1\nother |page w1\nad1 |page w1\n");
  const Words lines = results({"predict", "--model", "pecoc", "--data", "mixed.vw", "--learn"});
  const Batch batch = examples("mixed.vw");
  Words learned;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    learned.push_back(printed(pecoc.top_k(batch[i], 1)));
    if (i != 1) pecoc.learn(batch[i]);
  }
  EXPECT_EQ(lines, learned);
}

TEST_F(MethodsTest, TheTablePredictsScoresAndCounts) {
  const Model other = train_by(Method::kTable);
  write("known.vw", page_log(30, kLabels, 1));  // the first lines that it learned
  const Words scores = printed_scores(other, examples("known.vw"));
  EXPECT_EQ(results({"score", "--model", "other", "--data", "known.vw"}), scores);
  EXPECT_THAT(scores, Not(Contains("0")));
  EXPECT_THAT(results({"predict", "--model", "other", "--data", "known.vw", "--threshold", "0.001"}),
              Not(Contains("")));
  const Words lines = results({"inspect", "--model", "other"});
  EXPECT_THAT(lines, Contains(HasSubstr(" distinct (x, label)")));
  EXPECT_THAT(lines, Not(Contains(StartsWith("weights "))));
  EXPECT_THAT(lines, Contains(StartsWith("label digest   ")));
  EXPECT_THAT(lines, Contains(StartsWith("options        method table, seed 7,")));  // and none of regressors
  expect_failure({"explain", "--model", "other", "--data", "known.vw"}, 2,
                 "trained with --method table: it counts labels");
}

// The lines that the table learned are the lines that are scored.
TEST_F(MethodsTest, BestPossibleIsTheLossOfTheTableThatKnowsTheLines) {
  train_by(Method::kTable);
  const Words lines = lines_of(run({"score", "--model", "other", "--data", "train.vw", "--summary"}).err);
  const auto value = [&](const std::string& name) {
    const auto line = std::ranges::find_if(lines, [&](const std::string& one) { return one.starts_with(name + "  "); });
    if (line == lines.end()) {
      ADD_FAILURE() << "no line of " << name;
      return std::string();
    }
    return words_of(line->substr(name.size())).at(0);
  };
  EXPECT_EQ(value("best possible"), value("squared"));
}

// Logistic loss: the estimate is 1 / (1 + exp(-margin)).
TEST_F(MethodsTest, ExplainShowsTheRegressorOfTheLabel) {
  const Model other = train_by(Method::kOneAgainstAll);
  write("one.vw", kOneLine);
  const Words lines = results({"explain", "--model", "other", "--data", "one.vw", "--top", "1000"});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "one.vw:1  ad3  P = " + printed(other.probability(examples("one.vw")[0], "ad3")));
  EXPECT_THAT(words_of(lines[1]), ElementsAre("estimate", "contributions"));
  const Words row = words_of(lines[2]);
  ASSERT_EQ(row.size(), 13U);  // the estimate, and six features
  double margin = 0;
  for (std::size_t i = 2; i < row.size(); i += 2) margin += std::stod(row[i]);
  EXPECT_NEAR(std::stod(row[0]), 1 / (1 + std::exp(-margin)), 1e-3);
}

}  // namespace
}  // namespace cpt
