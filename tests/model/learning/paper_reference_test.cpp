// The learner against literal Algorithms 1 and 2 on streams without collisions: the same tree, the same probabilities.
#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "model/learning/in_order.h"
#include "model/literal_cpt.h"
#include "model/random_stream.h"
#include "model/random_tree.h"
#include "model/tree/bounds.h"
#include "model/tree/given_tree.h"

namespace cpt {
namespace {

std::string path_of(const Tree& tree, LabelId label) {
  std::vector<PathStep> hops;
  tree.path(label, hops);
  std::string path;
  for (const PathStep& hop : hops) {
    std::string part;
    for (std::uint32_t at = hop.position; at > 1; at /= 2) part += at % 2 == 1 ? '1' : '0';
    path.append(part.rbegin(), part.rend());
  }
  return path;
}

void expect_same_tree(const Learner& learner, const LiteralCpt& literal) {
  ASSERT_EQ(learner.tree().labels(), literal.labels());
  for (LabelId label = 0; label < learner.tree().labels(); ++label) {
    const std::string name(learner.labels().name(label));
    ASSERT_EQ(path_of(learner.tree(), label), literal.path(name)) << name;
  }
}

// The rows of every feature of the stream in every block of its final tree are distinct.
bool collision_free(const Learner& learner, const Batch& stream) {
  std::set<FeatureHash> features;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    features.insert(stream[i].features.begin(), stream[i].features.end());
  }
  std::set<std::uint64_t> rows;
  for (BlockId block = 0; block < learner.tree().blocks(); ++block) {
    const BlockHeader& link = learner.tree().header(block);
    for (FeatureHash feature : features) {
      const Region& region = learner.weights().region(link.partition);
      if (!rows.insert(WeightTable::index(feature, link.key, region)).second) return false;
    }
  }
  return true;
}

ModelOptions paper_options(double alpha) {
  ModelOptions options;
  options.alpha = alpha;
  options.loss = Loss::kSquared;
  options.update = Update::kSgd;
  options.clip = 0;
  options.learning_rate = 0.5;
  options.bits = 22;
  return options;
}

// Learns the stream one example at a time with both, and compares every prediction on the way and the trees at times.
void expect_agreement(Learner& learner, LiteralCpt& literal, const Batch& stream) {
  InOrder in_order(learner);
  Losses losses;
  PathState path_state;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const ExampleView x = stream[i];
    const std::string label(x.label);
    ASSERT_EQ(learner.find(x) != kNoLabel, literal.knows(label)) << "example " << i;
    if (literal.knows(label)) {
      learner.locate(x, learner.find(x), path_state);
      ASSERT_NEAR(learner.predict(path_state), literal.probability(label, x), 1e-5) << "example " << i;
    }
    in_order.learn_online({&stream, i, i + 1}, losses);
    literal.learn(x);
    if (i % 1000 == 17) expect_same_tree(learner, literal);
  }
  expect_same_tree(learner, literal);
  ASSERT_TRUE(collision_free(learner, stream)) << "choose another seed";
  EXPECT_EQ(find_invariant_violation(learner.tree(), learner.options()), "");
}

struct ReferenceCase {
  double alpha;
  StreamShape stream;
};

void PrintTo(const ReferenceCase& of, std::ostream* out) {
  *out << "alpha " << of.alpha << " seed " << of.stream.seed << " labels " << of.stream.labels;
}

class PaperReference : public testing::TestWithParam<ReferenceCase> {};

TEST_P(PaperReference, GivesTheSameTreeAndTheSameProbabilities) {
  Learner learner(paper_options(GetParam().alpha));
  LiteralCpt literal(GetParam().alpha, learner.options().learning_rate);
  expect_agreement(learner, literal, random_stream(GetParam().stream));
}

INSTANTIATE_TEST_SUITE_P(
    Streams, PaperReference,
    testing::Values(ReferenceCase{0.3, {.seed = 1, .labels = 200, .vocabulary = 20, .binary = true}},
                    ReferenceCase{0.6, {.seed = 6, .labels = 500, .vocabulary = 12, .binary = false}},
                    ReferenceCase{0.9, {.seed = 1, .labels = 1000, .vocabulary = 8, .binary = true}},
                    ReferenceCase{0.9, {.seed = 1, .labels = 500, .vocabulary = 10, .active = 8, .binary = false}},
                    ReferenceCase{
                        1.0, {.seed = 5, .labels = 3000, .vocabulary = 3, .active = 2, .binary = false, .skew = 1}}));

// Of the labels of the stream, so many, in any order.
std::vector<std::string> some_labels(const Batch& stream, std::size_t count) {
  std::set<std::string> labels;
  for (std::size_t i = 0; i < stream.size() && labels.size() < count; ++i) labels.emplace(stream[i].label);
  return {labels.begin(), labels.end()};
}

// Labels of the tree as in Algorithm 1, the others as in Algorithm 2.
TEST(PaperReference, GivesTheSameProbabilitiesInAGivenTree) {
  ModelOptions options = paper_options(0.6);
  options.tree = TreeKind::kGiven;
  Learner learner(options);
  LiteralCpt literal(options.alpha, options.learning_rate);
  const Batch stream = random_stream({.seed = 6, .labels = 300, .vocabulary = 12, .binary = false});
  const std::vector<std::string> labels = some_labels(stream, 120);
  ASSERT_EQ(labels.size(), 120U);
  const Tree given = random_tree(labels.size(), 3);
  std::vector<std::string> paths;
  for (LabelId label = 0; label < labels.size(); ++label) paths.push_back(path_of(given, label));
  for (std::size_t i = 0; i < labels.size(); ++i) literal.give(labels[i], paths[i]);
  for (const LeafSplit& leaf_split : leaf_splits_of(std::vector<std::string_view>(paths.begin(), paths.end()))) {
    learner.apply({labels[leaf_split.leaf], {leaf_split.split}, 0});
  }
  expect_same_tree(learner, literal);
  expect_agreement(learner, literal, stream);
  EXPECT_GT(learner.tree().labels(), labels.size() + 100);
}

TEST(PaperReference, LookingAheadChangesNothing) {
  const Batch stream = random_stream({.seed = 1, .labels = 300, .vocabulary = 12});
  Learner learner(paper_options(0.6));
  LiteralCpt literal(0.6, learner.options().learning_rate);
  InOrder in_order(learner);
  Losses losses;
  double squared = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const std::string label(stream[i].label);
    const double p = literal.knows(label) ? literal.probability(label, stream[i]) : 0;
    squared += (1 - p) * (1 - p);
    literal.learn(stream[i]);
  }
  in_order.learn_online({&stream, 0, stream.size()}, losses);
  expect_same_tree(learner, literal);
  ASSERT_TRUE(collision_free(learner, stream)) << "choose another seed";
  EXPECT_NEAR(losses.squared, squared, 1e-5 * static_cast<double>(stream.size()));
}

// The learner without calibration departs from the paper in known ways; with these written out literally, nothing else
// differs.
TEST(BlockReference, GivesTheSameTreeAndTheSameProbabilities) {
  ModelOptions options = paper_options(0.9);
  options.loss = Loss::kLogistic;
  options.update = Update::kAdaptive;
  options.calibrate = false;
  Learner learner(options);
  LiteralBlockCpt literal(options.alpha, options.learning_rate);
  expect_agreement(learner, literal, random_stream({.seed = 9, .labels = 500, .vocabulary = 12, .binary = false}));
}

}  // namespace
}  // namespace cpt
