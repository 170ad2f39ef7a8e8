// `cpt evaluate` against figures computed literally from the probabilities of all labels.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "app/program.h"

namespace cpt {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

// One label of one line.
struct Literal {
  std::string label;
  double weight = 1;
  double p = 0;
  bool is_new = false;
  std::vector<Prediction> best;  // all labels of the model

  double log() const { return -std::log(std::max(p, 1e-6)); }
  double squared() const { return (1 - p) * (1 - p); }
  // The distance of the probabilities of all labels from 1 for the line's and 0 for others.
  double brier() const {
    double sum = is_new ? 1 : 0;
    for (const Prediction& other : best) sum += std::pow(other.probability - (other.label == label ? 1 : 0), 2);
    return sum;
  }
  bool among(std::size_t k, std::string_view name) const {
    for (std::size_t i = 0; i < std::min(k, best.size()); ++i) {
      if (best[i].label == name) return true;
    }
    return false;
  }
  bool right() const { return best.front().label == label; }
};

// The weighted mean and its interval.
void expect_mean(const Json& figures, const std::string& name, const std::vector<Literal>& examples,
                 const std::function<double(const Literal&)>& value) {
  SCOPED_TRACE(name);
  double weight = 0;
  double sum = 0;
  for (const Literal& x : examples) weight += x.weight;
  for (const Literal& x : examples) sum += x.weight * value(x);
  const double mean = sum / weight;
  double errors = 0;
  for (const Literal& x : examples) errors += std::pow(x.weight * (value(x) - mean), 2);
  EXPECT_NEAR(figures[name], mean, 1e-12);
  EXPECT_NEAR(figures[name + "_ci"], 1.96 * std::sqrt(errors) / weight, 1e-9);
}

class EvaluateTest : public TrainedTest {
 protected:
  EvaluateTest() {
    write("mixed.vw", page_log(200, kLabels, 6) + "new 3 |page w1\nad1 2.5 |page w1\nnewer |page w1\nnew |user u2\n");
  }

  std::vector<Literal> literal(const std::string& file) { return literal(file, model()); }
  std::vector<Literal> literal(const std::string& file, const Model& model) {
    std::vector<Literal> lines;
    const Batch batch = examples(file);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const ExampleView x = batch[i];
      lines.push_back({.label = std::string(x.label),
                       .weight = static_cast<double>(x.importance),
                       .p = model.probability(x, x.label),
                       .is_new = x.label.starts_with("new"),
                       .best = model.top_k(x, kLabels)});
    }
    return lines;
  }

  Json evaluate(const std::string& file, const Words& more = {}) const {
    const Outcome outcome = run(Words{"evaluate", "--model", "model", "--data", file, "--json"} + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out);
  }
};

std::vector<Literal> without_new(std::vector<Literal> examples) {
  std::erase_if(examples, [](const Literal& x) { return x.is_new; });
  return examples;
}

TEST_F(EvaluateTest, LossesAreTheLiteralMeans) {
  const Json told = evaluate("mixed.vw", {"--k", "40"});
  const auto expect_part = [](const Json& part, const std::vector<Literal>& examples) {
    EXPECT_EQ(part["examples"], examples.size());
    expect_mean(part, "log", examples, &Literal::log);
    expect_mean(part, "squared", examples, &Literal::squared);
    expect_mean(part, "brier", examples, &Literal::brier);
  };
  expect_part(told["all"], literal("mixed.vw"));
  expect_part(told["seen"], without_new(literal("mixed.vw")));
}

TEST_F(EvaluateTest, RanksOfTheLabelGivePrecisionRecallAndGain) {
  const Json told = evaluate("mixed.vw", {"--k", "5,1,3,5"});
  const auto expect_part = [](const Json& part, const std::vector<Literal>& examples) {
    std::vector<std::size_t> ks;
    for (const Json& at : part["at"]) {
      const std::size_t k = at["k"];
      ks.push_back(k);
      expect_mean(at, "recall", examples, [k](const Literal& x) { return x.among(k, x.label) ? 1 : 0; });
      expect_mean(at, "precision", examples,
                  [k](const Literal& x) { return x.among(k, x.label) ? 1 / static_cast<double>(k) : 0; });
      expect_mean(at, "ndcg", examples, [k](const Literal& x) {
        for (std::size_t i = 0; i < k; ++i) {
          if (x.best[i].label == x.label) return std::log(2.0) / std::log(static_cast<double>(i) + 2);
        }
        return 0.0;
      });
    }
    EXPECT_THAT(ks, ElementsAre(1, 3, 5));
  };
  expect_part(told["all"], literal("mixed.vw"));
  expect_part(told["seen"], without_new(literal("mixed.vw")));
}

// Labels that were not searched add what one that is drawn stands for.
TEST_F(EvaluateTest, TheBrierScoreOfFewSearchedLabelsIsNear) {
  write("more.vw", page_log(4000, kLabels, 8));
  const Json exact = evaluate("more.vw", {"--k", "40"});
  for (const char* k : {"1", "5"}) {
    const double estimate = evaluate("more.vw", {"--k", k})["all"]["brier"];
    EXPECT_NEAR(estimate, exact["all"]["brier"], 0.005) << k;
  }
}

TEST_F(EvaluateTest, CalibrationComparesTheBestLabelsProbabilityWithWhatHappened) {
  struct Bin {
    std::size_t examples = 0;
    double weight = 0;
    double predicted = 0;
    double right = 0;
  };
  std::map<int, Bin> bins;
  double weight = 0;
  for (const Literal& x : literal("mixed.vw")) {
    const double p = x.best.front().probability;
    Bin& bin = bins[std::min(9, static_cast<int>(p * 10))];
    ++bin.examples;
    bin.weight += x.weight;
    bin.predicted += x.weight * p;
    bin.right += x.right() ? x.weight : 0;
    weight += x.weight;
  }
  const Json told = evaluate("mixed.vw")["calibration"];
  double error = 0;
  ASSERT_EQ(told["bins"].size(), 10U);
  for (int i = 0; i < 10; ++i) {
    const Json& shown = told["bins"][static_cast<std::size_t>(i)];
    const Bin& bin = bins[i];
    EXPECT_EQ(shown["examples"], bin.examples);
    if (bin.examples == 0) {
      EXPECT_TRUE(shown["predicted"].is_null() && shown["observed"].is_null());
      continue;
    }
    EXPECT_NEAR(shown["predicted"], bin.predicted / bin.weight, 1e-12);
    EXPECT_NEAR(shown["observed"], bin.right / bin.weight, 1e-12);
    error += bin.weight / weight * std::abs(bin.predicted / bin.weight - bin.right / bin.weight);
  }
  EXPECT_NEAR(told["error"], error, 1e-12);
}

struct LiteralLabel {
  std::size_t examples = 0;
  double weight = 0;
  double right = 0;
  double log = 0;
  double predicted = 0;
};

std::map<std::string, LiteralLabel> by_label(const std::vector<Literal>& examples) {
  std::map<std::string, LiteralLabel> labels;
  for (const Literal& x : examples) {
    LiteralLabel& own = labels[x.label];
    ++own.examples;
    own.weight += x.weight;
    own.log += x.weight * x.log();
    own.right += x.right() ? x.weight : 0;
    labels[std::string(x.best.front().label)].predicted += x.weight;
  }
  return labels;
}

void expect_ratio(const Json& told, double sum, double weight) {
  if (weight == 0) {
    EXPECT_TRUE(told.is_null());
  } else {
    EXPECT_NEAR(told, sum / weight, 1e-12);
  }
}

TEST_F(EvaluateTest, EachLabelHasItsOwnFigures) {
  const Json told = evaluate("mixed.vw", {"--by-label"})["by_label"];
  const std::map<std::string, LiteralLabel> expected = by_label(literal("mixed.vw"));
  ASSERT_EQ(told.size(), expected.size());
  std::size_t before = 1000;
  for (const Json& row : told) {
    const std::string name = row["label"];
    SCOPED_TRACE(name);
    const LiteralLabel& label = expected.at(name);
    EXPECT_EQ(row["new"], name.starts_with("new"));
    EXPECT_EQ(row["examples"], label.examples);
    EXPECT_LE(row["examples"], before);
    before = row["examples"];
    expect_ratio(row["recall"], label.right, label.weight);
    expect_ratio(row["precision"], label.right, label.predicted);
    expect_ratio(row["log"], label.log, label.weight);
  }
  EXPECT_FALSE(evaluate("mixed.vw").contains("by_label"));
}

TEST_F(EvaluateTest, LabelsAreClassedByTheirFrequency) {
  write("skewed.vw", page_log(100, kLabels, 6) + page_log(300, 3, 7) + "new |page w1\n");
  std::map<std::size_t, LiteralLabel> classes;
  std::map<std::size_t, std::size_t> labels;
  for (const auto& [name, label] : by_label(literal("skewed.vw"))) {
    if (label.examples == 0) continue;
    const std::size_t of = name == "new" ? 0 : std::to_string(label.examples).size();
    ++labels[of];
    classes[of].examples += label.examples;
    classes[of].weight += label.weight;
    classes[of].right += label.right;
    classes[of].log += label.log;
  }
  const Json told = evaluate("skewed.vw");
  std::size_t shown = 0;
  for (const Json& row : told["by_frequency"]) {
    const std::size_t of = row["least"].dump().size();
    EXPECT_EQ(row["most"].dump(), std::string(of, '9'));
    EXPECT_EQ(row["labels"], labels[of]);
    EXPECT_EQ(row["examples"], classes[of].examples);
    expect_ratio(row["recall"], classes[of].right, classes[of].weight);
    expect_ratio(row["log"], classes[of].log, classes[of].weight);
    ++shown;
  }
  EXPECT_EQ(shown, 3U);
  EXPECT_EQ(labels.size(), 4U);  // with the class of new labels
  EXPECT_EQ(told["new_labels"]["labels"], 1);
  EXPECT_EQ(told["new_labels"]["examples"], 1);
  EXPECT_EQ(told["new_labels"]["recall"], 0);
}

TEST_F(EvaluateTest, LabelsOfOneLineAreASet) {
  ModelOptions options = model_options();
  options.interactions = {};  // fasttext lines have no namespaces
  Model plain(options);
  learn_and_save(plain, "plain");
  write("sets.txt", "__label__ad1 __label__ad4 __label__new w1 u4\n__label__ad2 w2\n");
  const Outcome outcome =
      run({"evaluate", "--model", "plain", "--data", "sets.txt", "--multilabel", "split", "--k", "40", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json told = Json::parse(outcome.out);
  write("lines.vw", "ad1 | w1 u4\nad2 | w2\n");
  const std::vector<Literal> lines = literal("lines.vw", plain);
  const auto rank = [](const Literal& x, std::string_view label) {
    std::size_t at = 0;
    while (x.best[at].label != label) ++at;
    return static_cast<double>(at) + 1;
  };
  const double gain = 1 / std::log2(1 + rank(lines[0], "ad1")) + 1 / std::log2(1 + rank(lines[0], "ad4"));
  const double second = 1 / std::log2(1 + rank(lines[1], "ad2"));
  const Json& all = told["all"]["at"][0];
  const Json& seen = told["seen"]["at"][0];
  EXPECT_EQ(told["all"]["examples"], 4);
  EXPECT_EQ(told["seen"]["examples"], 3);
  EXPECT_NEAR(all["precision"], (2.0 / 40 + 1.0 / 40) / 2, 1e-6);
  EXPECT_NEAR(all["recall"], (2.0 / 3 + 1) / 2, 1e-6);
  EXPECT_NEAR(all["ndcg"], (gain / (1 + 1 / std::log2(3) + 0.5) + second) / 2, 1e-6);
  // The first line without its new label.
  EXPECT_NEAR(seen["recall"], 1, 1e-6);
  EXPECT_NEAR(seen["ndcg"], (gain / (1 + 1 / std::log2(3)) + second) / 2, 1e-6);
}

TEST_F(EvaluateTest, TheTextShowsTheSameFigures) {
  const Json told = evaluate("mixed.vw", {"--by-label"});
  const Words lines = results({"evaluate", "--model", "model", "--data", "mixed.vw", "--by-label"});
  const auto mean = [](const Json& part, const std::string& name) {
    return std::to_string(part[name].get<double>()) + " +- " + std::to_string(part[name + "_ci"].get<double>());
  };
  EXPECT_EQ(lines.front(), "204 examples, 3 of them with a new label");
  for (const auto& [name, field] : {std::pair("log ", "log"), {"Brier ", "brier"}, {"squared ", "squared"}}) {
    EXPECT_THAT(lines, Contains(::testing::AllOf(StartsWith(name), HasSubstr(mean(told["all"], field)),
                                                 HasSubstr(mean(told["seen"], field)))));
  }
  EXPECT_THAT(lines, Contains(::testing::AllOf(StartsWith("nDCG@5 "), HasSubstr(mean(told["all"]["at"][2], "ndcg")))));
  EXPECT_THAT(lines,
              Contains(HasSubstr("calibration error " + std::to_string(told["calibration"]["error"].get<double>()))));
  EXPECT_THAT(lines, Contains(::testing::EndsWith("newer (new)")));
}

TEST_F(EvaluateTest, ThreadsChangeNothing) {
  write("more.vw", page_log(2000, kLabels + 3, 6));
  const Words evaluate{"evaluate", "--model", "model", "--data", "more.vw", "--by-label", "--threads"};
  const Outcome one = run(evaluate + Words{"1"});
  EXPECT_EQ(one.code, 0);
  for (const char* threads : {"2", "5"}) EXPECT_EQ(run(evaluate + Words{threads}).out, one.out);
}

TEST_F(EvaluateTest, WorksWithoutDataAndWithoutLabels) {
  write("nothing.vw", "");
  const Json told = evaluate("nothing.vw");
  EXPECT_EQ(told["all"]["examples"], 0);
  EXPECT_TRUE(told["all"]["log"].is_null() && told["seen"]["at"][0]["precision_ci"].is_null());
  EXPECT_TRUE(told["calibration"]["error"].is_null());
  const Words text = results({"evaluate", "--model", "model", "--data", "nothing.vw"});
  EXPECT_THAT(text, Contains(::testing::MatchesRegex("squared +- +-")));
  EXPECT_THAT(text, Contains(::testing::EndsWith("calibration error -")));
  Model(model_options()).save(path("empty"));
  const Words lines = results({"evaluate", "--model", "empty", "--data", "test.vw"});
  EXPECT_EQ(lines.front(), "50 examples, 50 of them with a new label");
  EXPECT_THAT(lines, Contains(::testing::MatchesRegex("log +1[0-9.]+ \\+- [0-9.]+ +-")));
}

TEST_F(EvaluateTest, BadLinesAreCounted) {
  write("bad.vw", "ad1 |page w1\n|page w1\nad2 |page w2\n");
  const Words command{"evaluate", "--model", "model", "--data", "bad.vw", "--on-error", "skip"};
  EXPECT_THAT(run(command).out, StartsWith("2 examples, 0 of them with a new label\n1 bad line skipped\n\n"));
  EXPECT_EQ(Json::parse(run(command + Words{"--json"}).out)["error_lines"], 1);
}

TEST_F(EvaluateTest, WarnsOfLabelsThatItDrops) {
  Model plain({.bits = 12});
  plain.save(path("plain"));
  write("several.svm", "1,2 4:1\n1 4:1\n2,3 5:1\n");
  const Words command{"evaluate", "--model", "plain", "--data", "several.svm"};
  for (const char* threads : {"1", "3"}) {
    EXPECT_EQ(
        run(command + Words{"--threads", threads}).err,
        "cpt: warning: several.svm: 2 of the first 3 lines have several labels, of which --multilabel first keeps "
        "the first; split, sample and error are the other choices\n");
  }
  EXPECT_EQ(run(command + Words{"--multilabel", "split"}).err, "");
}

TEST_F(EvaluateTest, RefusesLinesWithoutALabelAndOtherListsOfK) {
  write("bare.vw", "|page w1\n");
  expect_failure({"evaluate", "--model", "model", "--data", "bare.vw"}, 65, "bare.vw:1:1: expected a label");
  for (const char* k : {"0", "1,x", "-1"}) {
    expect_failure({"evaluate", "--model", "model", "--data", "test.vw", "--k", k}, 2, "--k");
  }
}

}  // namespace
}  // namespace cpt
