// The model as a program that embeds the library sees it.
#include "cpt/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "cpt/hashing.h"
#include "cpt/version.h"
#include "model/learning/learner.h"
#include "train/small_model.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_STREQ(version(), CPT_VERSION);
  EXPECT_EQ(std::to_string(CPT_VERSION_MAJOR) + "." + std::to_string(CPT_VERSION_MINOR) + "." +
                std::to_string(CPT_VERSION_PATCH),
            CPT_VERSION);
}

TEST(Model, KnowsNothingAtFirst) {
  const Model model(small_model());
  const Batch x = parse("a | x");
  EXPECT_EQ(model.labels(), 0U);
  EXPECT_EQ(model.probability(x[0], "a"), 0);
  EXPECT_TRUE(model.top_k(x[0], 5).empty());
  EXPECT_EQ(model.options().bits, 14);
}

TEST(Model, RefusesOptionsOutOfRange) {
  ModelOptions options;
  options.alpha = 0;
  EXPECT_EQ(thrown_by([&] { Model model(options); }).fault, Fault::kUsage);
}

TEST(Model, GivesUnknownLabelsZero) {
  const Model model = trained_model(random_lines({}));
  const Batch x = parse("nobody | w1 w2");
  EXPECT_EQ(model.probability(x[0], "nobody"), 0);
  EXPECT_EQ(model.probability(x[0], ""), 0);
}

TEST(Model, GivesTheOnlyLabelOne) {
  const Model model = trained_model("only | x\n");
  EXPECT_EQ(model.probability(parse("a | y z")[0], "only"), 1);
}

TEST(Model, ProbabilitiesOfAllLabelsSumToOne) {
  for (const Loss loss : {Loss::kSquared, Loss::kLogistic}) {
    for (const double clip : {0.0, 0.01}) {
      ModelOptions options = small_model();
      options.loss = loss;
      options.clip = clip;
      const std::string lines = random_lines({.examples = 600, .labels = 150});
      const Model model = trained_model(lines, options);
      const Batch examples = parse(random_lines({.seed = 7, .examples = 20, .labels = 20}));
      for (std::size_t i = 0; i < examples.size(); ++i) {
        double sum = 0;
        for (const std::string& label : labels_of(lines)) sum += model.probability(examples[i], label);
        EXPECT_NEAR(sum, 1, 1e-9);
      }
    }
  }
}

// To the last bit. Labels may repeat, and may be unknown.
TEST(Model, SeveralProbabilitiesAreThoseOfEachLabel) {
  for (const Method method : {Method::kTree, Method::kOneAgainstAll}) {
    ModelOptions options = small_model();
    options.method = method;
    const std::string lines = random_lines({.examples = 600, .labels = 150});
    const Model model = trained_model(lines, options);
    std::vector<std::string> labels{"unknown"};
    for (const std::string& label : labels_of(lines)) labels.insert(labels.end(), {label, label, ""});
    const Batch examples = parse(random_lines({.seed = 7, .examples = 20, .labels = 20}));
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::vector<double> expected;
      for (const std::string& label : labels) expected.push_back(model.probability(examples[i], label));
      EXPECT_EQ(model.probabilities(examples[i], labels), expected);
    }
    EXPECT_TRUE(model.probabilities(examples[0], {}).empty());
  }
  const std::vector<std::string> labels{"a", "b"};
  EXPECT_EQ(Model(small_model()).probabilities(parse("a | x")[0], labels), std::vector<double>(2));
}

TEST(Model, TakesTheLabelsOfProbabilitiesInAnyForm) {
  const Model model = trained_model("a | x\nb | y\n");
  const Batch batch = parse("? | x");
  const ExampleView x = batch[0];
  const std::vector<double> expected{model.probability(x, "b"), 0, model.probability(x, "a")};
  const std::vector<std::string> texts{"b", "c", "a"};
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  EXPECT_EQ(model.probabilities(x, texts), expected);
  EXPECT_EQ(model.probabilities(x, views), expected);
  EXPECT_EQ(model.probabilities(x, {"b", "c", "a"}), expected);
  EXPECT_EQ(model.probabilities(x, {texts[0], texts[1], texts[2]}), expected);
}

// One path state of the thread serves models of all kinds in turn, as a new one for each call would.
TEST(Model, TakesTurnsWithOtherModels) {
  std::vector<ModelOptions> kinds(6, small_model());
  kinds[1].method = Method::kOneAgainstAll;
  kinds[2].method = Method::kConditionalPecoc;
  kinds[3].method = Method::kTable;
  kinds[4].trees = 3;
  kinds[5].loss = Loss::kSquared;
  const Batch lines = parse(random_lines({.examples = 400, .labels = 40}));
  std::vector<Model> models;
  std::vector<Model> same;  // learn batches, which have path states of their own
  for (const ModelOptions& options : kinds) {
    models.emplace_back(options);
    same.emplace_back(options).learn(lines);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (Model& model : models) model.learn(lines[i]);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const Learner& learner = models[kind].learner();
      PathState path_state;
      learner.locate(lines[i], learner.find(lines[i]), path_state);
      EXPECT_EQ(models[kind].probability(lines[i], lines[i].label), learner.predict(path_state)) << kind;
    }
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    EXPECT_EQ(models[kind].digests(), same[kind].digests()) << kind;
}

TEST(Model, FindsTheNumberOfALabel) {
  const Model model = trained_model("a | x\nb | y\n");
  EXPECT_EQ(model.find("b"), 1U);
  EXPECT_EQ(model.find("c"), std::nullopt);
  const Prediction best = model.top_k(parse("? | y")[0], 1)[0];
  EXPECT_EQ(model.label(best.number), best.label);
}

TEST(Model, SaysHowLargeItIs) {
  const Model model = trained_model(random_lines({.examples = 600, .labels = 50}));
  const ModelFigures figures = model.figures();
  EXPECT_EQ(figures.rows, 1U << 14);
  EXPECT_GT(figures.rows_used, 50U);
  EXPECT_LE(figures.rows_used, figures.rows);
  EXPECT_EQ(figures.trees, 1U);
  EXPECT_GT(figures.depth_mean, 5);
  EXPECT_GE(figures.depth_max, figures.depth_mean);
  EXPECT_LE(figures.depth_max, figures.depth_bound);
  EXPECT_EQ(Model(small_model()).figures().depth_max, 0U);
  ModelOptions table = small_model();
  table.method = Method::kTable;
  EXPECT_EQ(trained_model("a | x\n", table).figures().rows, 0U);
}

TEST(Model, SaysWhatPartOfAnExampleItKnows) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "a | x y\n";
  const Model model = trained_model(lines);
  EXPECT_EQ(model.known_part(parse("? | x y")[0]), 1);
  EXPECT_EQ(model.known_part(parse("? | x never")[0]), 0.5);
  EXPECT_EQ(model.known_part(parse("? | never")[0]), 0);
  EXPECT_TRUE(std::isnan(model.known_part(parse("? |")[0])));
  EXPECT_TRUE(std::isnan(trained_model("a | x\n").known_part(parse("? | x")[0]))) << "nothing is counted yet";
  ModelOptions options = small_model();
  options.rarity = false;
  EXPECT_TRUE(std::isnan(trained_model(lines, options).known_part(parse("? | x")[0])));
}

TEST(Model, RefusesAThresholdThatIsNoNumber) {
  const Model model = trained_model("a | x\n");
  const Batch x = parse("? | x");
  const Thrown thrown = thrown_by([&] { model.top_k(x[0], 1, std::numeric_limits<double>::quiet_NaN()); });
  EXPECT_EQ(thrown.fault, Fault::kUsage);
  EXPECT_EQ(thrown.text, "expected a number as threshold, found nan");
}

TEST(Model, NeedsTheNameOfADirectory) {
  for (const auto& call :
       std::vector<std::function<void()>>{[] { Model::load(""); }, [] { Model(small_model()).save(""); }}) {
    EXPECT_EQ(thrown_by(call).fault, Fault::kUsage);
    EXPECT_EQ(thrown_by(call).text, "expected a directory, found an empty name");
  }
}

TEST(Model, WithoutLabelsHasNoGivenTree) {
  ModelOptions options = small_model();
  options.tree = TreeKind::kGiven;
  EXPECT_EQ(thrown_by([&] { Model model(options); }).fault, Fault::kUsage);
  EXPECT_THAT(thrown_by([&] { Model model(options); }).text, HasSubstr("cannot have a given tree"));
}

TEST(Model, TopKIsTheBestOfAllProbabilities) {
  const std::string lines = random_lines({.examples = 600, .labels = 150});
  const Model model = trained_model(lines);
  const Batch examples = parse(random_lines({.seed = 7, .examples = 20, .labels = 20}));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    std::vector<double> all;
    for (const std::string& label : labels_of(lines)) all.push_back(model.probability(examples[i], label));
    std::sort(all.rbegin(), all.rend());
    const std::vector<Prediction> best = model.top_k(examples[i], 10);
    ASSERT_EQ(best.size(), 10U);
    for (std::size_t k = 0; k < best.size(); ++k) {
      // The same product in another order.
      EXPECT_DOUBLE_EQ(best[k].probability, model.probability(examples[i], best[k].label));
      EXPECT_DOUBLE_EQ(best[k].probability, all[k]);
    }
  }
}

TEST(Model, TopKStopsAtTheThresholdAndAtTheLastLabel) {
  const Model model = trained_model(random_lines({.labels = 30}));
  const Batch batch = parse("a | w1 w2");
  const ExampleView x = batch[0];
  const std::vector<Prediction> all = model.top_k(x, 1000);
  EXPECT_EQ(all.size(), 30U);
  EXPECT_TRUE(model.top_k(x, 0).empty());
  const std::vector<Prediction> likely = model.top_k(x, 1000, all[4].probability);
  EXPECT_GE(likely.size(), 5U);
  EXPECT_GE(likely.back().probability, all[4].probability);
}

// A program that makes its own examples need not set the hashes of labels.
TEST(Model, KnowsALabelByItsName) {
  Model model(small_model());
  const Batch batch = parse(random_lines({}));
  for (int i = 0; i < 3; ++i) {
    ExampleView x = batch[0];
    x.label_hash = 0;
    model.learn(x);
    EXPECT_TRUE(model.takes_label(x));
  }
  EXPECT_EQ(model.labels(), 1U);
}

TEST(Model, LearnReturnsWhatItWouldHavePredicted) {
  Model model(small_model());
  const Batch batch = parse(random_lines({}));
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double p = model.probability(batch[i], batch[i].label);
    EXPECT_EQ(model.learn(batch[i]), p);
  }
}

TEST(Model, LearnsWhatItIsTaught) {
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += "cat | whiskers\ndog | bone\nbird | wing\n";
  const Model model = trained_model(lines);
  EXPECT_GT(model.probability(parse("? | whiskers")[0], "cat"), 0.9);
  EXPECT_GT(model.probability(parse("? | bone")[0], "dog"), 0.9);
  EXPECT_EQ(model.top_k(parse("? | wing")[0], 1)[0].label, "bird");
}

TEST(Model, RefusesToLearnWithoutALabel) {
  Model model(small_model());
  Batch batch;
  batch.add_feature(1, 1);
  batch.finish_example("", 1, {});
  const Thrown thrown = thrown_by([&] { model.learn(batch[0]); });
  EXPECT_EQ(thrown.fault, Fault::kUsage);
  EXPECT_EQ(thrown.text, "an example without a label cannot be learned");
  EXPECT_EQ(model.labels(), 0U);
}

TEST(Model, RefusesToLearnWhatWouldPoisonIt) {
  Model model = trained_model("a | x\nb | y\n");
  const Digests digests = digests_of(model);
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float importance : {0.0F, -1.0F, kNaN, kInfinity, 1.01e12F}) {
    Batch batch;
    batch.add_feature(1, 1);
    batch.finish_example("a", importance, {});
    const Thrown thrown = thrown_by([&] { model.learn(batch[0]); });
    EXPECT_EQ(thrown.fault, Fault::kUsage) << importance;
    EXPECT_THAT(thrown.text, HasSubstr("expected an importance above 0 and at most 1e12, found "));
  }
  for (const float value : {kNaN, kInfinity, -kInfinity, -2e30F}) {
    const FeatureHash features[] = {kConstantFeature, 1};
    const float values[] = {1, value};
    ExampleView x;
    x.features = features;
    x.values = values;
    x.label = "a";
    x.label_hash = hash_label("a");
    EXPECT_EQ(thrown_by([&] { model.learn(x); }).fault, Fault::kUsage) << value;
    EXPECT_EQ(thrown_by([&] { model.probability(x, "a"); }).fault, Fault::kUsage) << value;
    EXPECT_EQ(thrown_by([&] { model.top_k(x, 1); }).fault, Fault::kUsage) << value;
  }
  EXPECT_EQ(digests_of(model), digests);

  Batch heaviest;
  heaviest.add_feature(1, 1e30F);
  heaviest.finish_example("a", 1e12F, {});
  EXPECT_EQ(thrown_by([&] { model.learn(heaviest[0]); }).fault, std::nullopt);
}

TEST(Model, OfPecocMustKnowItsLabels) {
  ModelOptions options = small_model();
  options.method = Method::kPecoc;
  EXPECT_EQ(thrown_by([&] { Model model(options); }).fault, Fault::kUsage);

  Model model(std::make_unique<Learner>(options));
  model.learner().apply({"a", {kNoLabel}, 0});
  const Batch batch = parse("a | x\nb | x\n");
  EXPECT_TRUE(model.takes_label(batch[0]));
  model.learn(batch[0]);
  EXPECT_FALSE(model.takes_label(batch[1]));
  EXPECT_EQ(thrown_by([&] { model.learn(batch[1]); }).fault, Fault::kBadData);
  EXPECT_EQ(model.labels(), 1U);
}

TEST(Model, TakesAnyLabel) {
  const Model model(small_model());
  EXPECT_TRUE(model.takes_label(parse("a | x")[0]));
  ExampleView none;
  EXPECT_FALSE(model.takes_label(none));
}

TEST(Model, MovesWithAllItKnows) {
  Model first = trained_model(random_lines({}));
  const Digests digests = digests_of(first);
  const Model second = std::move(first);
  EXPECT_EQ(digests_of(second), digests);
  first = trained_model("a | x\n");
  EXPECT_EQ(first.labels(), 1U);
}

}  // namespace
}  // namespace cpt
