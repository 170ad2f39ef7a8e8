#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/program.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// One row of a path: "depth side P name value name value ...", or "depth side P a b c margin rare-margin name value
// ...".
struct Row {
  std::size_t depth = 0;
  std::string side;
  double probability = 0;
  std::vector<double> calibrator;  // a, b, c and the margins; empty if nodes are not calibrated
  Words names;
  std::vector<double> contributions;
};

Row parse_row(const std::string& line) {
  const Words words = words_of(line);
  Row row{std::stoul(words.at(0)), words.at(1), std::stod(words.at(2)), {}, {}, {}};
  std::size_t first = 3;
  if (std::isdigit(static_cast<unsigned char>(words.at(3)[0])) != 0) {
    for (; first < 8; ++first) row.calibrator.push_back(std::stod(words.at(first)));
  }
  for (std::size_t i = first; i < words.size(); i += 2) {
    row.names.push_back(words[i]);
    row.contributions.push_back(std::stod(words.at(i + 1)));
  }
  return row;
}

class ExplainTest : public TrainedTest {
 protected:
  // The lines of one explained example, apart from the two heads.
  std::vector<Row> explain_rows(const std::string& line, const std::string& top, const std::string& model = "model") {
    write("one.vw", line);
    const Words lines = results({"explain", "--model", model, "--data", "one.vw", "--top", top});
    std::vector<Row> rows;
    for (std::size_t i = 2; i < lines.size(); ++i) rows.push_back(parse_row(lines[i]));
    return rows;
  }
};

constexpr const char* kLine = "ad3 |page w3 w5:0.5 |user u3\n";

TEST_F(ExplainTest, TheNodesMultiplyToTheProbabilityOfTheLabel) {
  write("one.vw", kLine);
  const double p = model().probability(examples("one.vw")[0], "ad3");
  const Words lines = results({"explain", "--model", "model", "--data", "one.vw"});
  EXPECT_EQ(lines.at(0), "one.vw:1  ad3  P = " + printed(p));
  EXPECT_THAT(words_of(lines.at(1)),
              ElementsAre("depth", "side", "P(side)", "a", "b", "c", "margin", "rare", "margin", "contributions"));

  const std::vector<Row> rows = explain_rows(kLine, "5");
  const auto& labels = model().learner().labels();
  const LabelId label = labels.find("ad3", examples("one.vw")[0].label_hash);
  ASSERT_THAT(rows, SizeIs(model().learner().tree().depth(label)));
  double product = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].depth, i);
    product *= rows[i].probability;
  }
  EXPECT_NEAR(product, p, 1e-4 * p);
}

double logistic(double margin) { return std::clamp(1 / (1 + std::exp(-margin)), 0.001, 0.999); }

// Signed towards the side.
TEST_F(ExplainTest, AllContributionsAddUpToTheCalibratedMarginOfTheSide) {
  const std::vector<Row> rows = explain_rows(kLine, "1000");
  ASSERT_FALSE(rows.empty());
  for (const Row& row : rows) {
    SCOPED_TRACE(row.depth);
    ASSERT_THAT(row.calibrator, SizeIs(5));
    const double a = row.calibrator[0];
    const double b = row.calibrator[1];
    const double c = row.calibrator[2];
    double sum = b;
    for (const double contribution : row.contributions) sum += contribution;
    EXPECT_NEAR(sum, a * row.calibrator[3] + b + c * row.calibrator[4], 0.01 + 0.002 * std::abs(sum));
    EXPECT_NEAR(row.probability, logistic(1.05 * sum), 1e-3);
  }
}

TEST_F(ExplainTest, AllContributionsAddUpToTheMarginOfTheSideWithoutCalibration) {
  ModelOptions options = model_options();
  options.calibrate = false;
  Model plain(options);
  learn_and_save(plain, "plain");
  const std::vector<Row> rows = explain_rows(kLine, "1000", "plain");
  ASSERT_FALSE(rows.empty());
  for (const Row& row : rows) {
    double margin = 0;
    for (const double contribution : row.contributions) margin += contribution;
    EXPECT_NEAR(row.probability, logistic(margin), 1e-3) << "depth " << row.depth;
  }
}

TEST_F(ExplainTest, ShowsEachOfSeveralTrees) {
  ModelOptions options = model_options();
  options.trees = 2;
  Model two(options);
  learn_and_save(two, "two");
  write("one.vw", kLine);
  const double p = two.probability(examples("one.vw")[0], "ad3");
  const Words lines = results({"explain", "--model", "two", "--data", "one.vw"});
  EXPECT_EQ(lines.at(0), "one.vw:1  ad3  P = " + printed(p));
  double sum = 0;
  double product = 0;  // of the rows of the current tree
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Words words = words_of(lines[i]);
    if (words.at(0) == "tree") {
      sum += product;
      product = 1;
    } else if (words.at(0) != "depth") {
      product *= parse_row(lines[i]).probability;
    }
  }
  EXPECT_NEAR((sum + product) / 2, p, 1e-4 * p);
}

TEST_F(ExplainTest, NamesTheLargestContributionsFirst) {
  const std::vector<Row> all = explain_rows(kLine, "1000");
  const std::vector<Row> two = explain_rows(kLine, "2");
  ASSERT_EQ(two.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_THAT(all[i].names, SizeIs(::testing::Ge(2U)));
    EXPECT_THAT(two[i].names, ElementsAre(all[i].names[0], all[i].names[1]));
    for (std::size_t j = 1; j < all[i].contributions.size(); ++j) {
      EXPECT_GE(std::abs(all[i].contributions[j - 1]), std::abs(all[i].contributions[j]));
    }
  }
  EXPECT_THAT(all[0].names,
              ::testing::UnorderedElementsAre("(constant)", "page^w3", "page^w5", "user^u3", "pu^w3*u3", "pu^w5*u3"));
}

// There is one row per node, and nodes with more branches give fewer rows.
TEST_F(ExplainTest, WideNodesMultiplyToTheProbabilityOfTheLabelToo) {
  std::size_t rows_before = explain_rows(kLine, "1").size();
  for (const int ways : {4, 16}) {
    ModelOptions options = model_options();
    options.method = Method::kConditionalPecoc;
    options.arity = ways;
    Model wide(options);
    learn_and_save(wide, "wide");
    const std::vector<Row> rows = explain_rows(kLine, "3", "wide");
    EXPECT_LT(rows.size(), rows_before);
    rows_before = rows.size();
    double product = 1;
    for (const Row& row : rows) {
      EXPECT_LT(std::stoi(row.side), ways);
      EXPECT_THAT(row.names, SizeIs(3));
      product *= row.probability;
    }
    EXPECT_NEAR(product, wide.probability(examples("one.vw")[0], "ad3"), 1e-5) << ways;
    std::filesystem::remove_all(path("wide"));
  }
}

TEST_F(ExplainTest, SaysWhenALabelIsNotInTheModel) {
  write("new.vw", "new |page w1\n" + std::string(kLine));
  const Words lines = results({"explain", "--model", "model", "--data", "new.vw"});
  EXPECT_EQ(lines.at(0), "new.vw:1  new  not in the model");
  EXPECT_THAT(lines.at(1), ::testing::StartsWith("new.vw:2  ad3  P = "));
}

TEST_F(ExplainTest, NamesTheFirstLineOfARecord) {
  write("table.csv", "label,page\n\nad3,\"w3\nw5\"\nad1,w1\n");
  const Words lines = results({"explain", "--model", "model", "--data", "table.csv", "--top", "0"});
  EXPECT_THAT(lines.front(), ::testing::StartsWith("table.csv:3  ad3  P = "));
  EXPECT_THAT(lines, ::testing::Contains(::testing::StartsWith("table.csv:5  ad1  P = ")));
}

TEST_F(ExplainTest, ExplainsTheBestLabelOfALineWithoutOne) {
  write("bare.vw", "|page w3 |user u3\n");
  const Prediction best = model().top_k(examples("bare.vw")[0], 1)[0];
  EXPECT_EQ(results({"explain", "--model", "model", "--data", "bare.vw"}).at(0),
            "bare.vw:1  " + std::string(best.label) + "  P = " + printed(best.probability) +
                "  (no label on the line: the most probable one)");
}

TEST_F(ExplainTest, ExplainsTheLabelsThatAreNamed) {
  write("two.vw", "ad3 |page w3 |user u3\n|page w1\n");
  const Words lines = results({"explain", "--model", "model", "--data", "two.vw", "--label", "ad7", "--label", "none"});
  Words heads;
  for (const std::string& line : lines) {
    if (line.starts_with("two.vw")) heads.push_back(line);
  }
  const Batch batch = examples("two.vw");
  EXPECT_THAT(heads, ElementsAre("two.vw:1  ad7  P = " + printed(model().probability(batch[0], "ad7")),
                                 "two.vw:1  none  not in the model",
                                 "two.vw:2  ad7  P = " + printed(model().probability(batch[1], "ad7")),
                                 "two.vw:2  none  not in the model"));
  EXPECT_THAT(words_of(lines.at(1)).front(), "depth");
}

TEST_F(ExplainTest, ExplainsANamedLabelOncePerLine) {
  Model plain({.bits = 12});
  plain.save(path("plain"));
  write("several.svm", "1,2 4:1\n");
  const Words explain{"explain", "--model", "plain", "--data", "several.svm", "--multilabel", "split"};
  EXPECT_THAT(results(explain), SizeIs(2));
  EXPECT_THAT(run(explain + Words{"--label", "3"}).err, HasSubstr("no label '3' in the model"));
}

TEST_F(ExplainTest, RefusesLabelsOfWhichTheModelKnowsNone) {
  const Words explain{"explain", "--model", "model", "--data", "test.vw"};
  expect_failure(explain + Words{"--label", "nope"}, 2, "cpt: no label 'nope' in the model");
  expect_failure(explain + Words{"--label", "nope", "--label", "no"}, 2, "cpt: no label 'nope', 'no' in the model");
}

TEST_F(ExplainTest, PrintsTheSameAsJson) {
  write("one.vw", kLine);
  const Words command{"explain", "--model", "model", "--data",  "one.vw", "--top",
                      "2",       "--label", "ad3",   "--label", "x"};
  const std::vector<Row> rows = explain_rows(kLine, "2");
  Words with_json = command;
  with_json.emplace_back("--json");
  const Words lines = results(with_json);
  ASSERT_THAT(lines, SizeIs(2));
  const Json known = Json::parse(lines[0]);
  EXPECT_EQ(known["line"], "one.vw:1");
  EXPECT_EQ(known["label"], "ad3");
  EXPECT_EQ(known["probability"], model().probability(examples("one.vw")[0], "ad3"));
  ASSERT_THAT(known["trees"], SizeIs(1));
  const Json& steps = known["trees"][0]["steps"];
  ASSERT_EQ(steps.size(), rows.size());
  double product = 1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(steps[i]["depth"], rows[i].depth);
    EXPECT_EQ(steps[i]["side"], rows[i].side);
    EXPECT_NEAR(steps[i]["calibration"]["rare_margin"].get<double>(), rows[i].calibrator.back(), 1e-3);
    ASSERT_THAT(steps[i]["contributions"], SizeIs(2));
    EXPECT_EQ(steps[i]["contributions"][0]["feature"], rows[i].names[0]);
    product *= steps[i]["probability"].get<double>();
  }
  EXPECT_NEAR(product, known["probability"].get<double>(), 1e-9);
  EXPECT_EQ(lines[1], R"({"line":"one.vw:1","label":"x","probability":null})");
}

TEST_F(ExplainTest, AnEmptyModelExplainsNothing) {
  Model(model_options()).save(path("empty"));
  write("two.vw", "a |page x\n|page y\n");
  EXPECT_THAT(results({"explain", "--model", "empty", "--data", "two.vw"}),
              ElementsAre("two.vw:1  a  not in the model", "two.vw:2  no label, and none in the model"));
}

}  // namespace
}  // namespace cpt
