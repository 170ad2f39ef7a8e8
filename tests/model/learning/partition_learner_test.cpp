// Examples that are led through partitions one after another do there what they do in a learner that holds them all.
#include "model/learning/partition_learner.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "cpt/error.h"
#include "model/trained_model.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

// As a learner scales it that has never renewed its rarities: all features are equally rare.
ScaledExample unscaled(const ExampleView& x) { return {x, x.values}; }

struct PartitionsCase {
  const char* name;
  ModelOptions options;
  std::size_t lag;  // examples after which those who lead them hear of new labels
};

void PrintTo(const PartitionsCase& of, std::ostream* out) { *out << of.name << ", lag " << of.lag; }

// All partitions, in one place but each on its own, and someone who leads examples through them by an old tree.
class Led {
 public:
  Led(const ModelOptions& options, std::size_t lag)
      : known_(options), lag_(lag), regressors_(known_.weights(), options) {
    for (Partition p = 0; p < kPartitions; ++p) {
      partitions_.push_back(std::make_unique<PartitionLearner>(p, known_.tree(), known_.weights(), options));
    }
  }

  // P of its label before it is learned; 0 if that is new.
  double learn(const ExampleView& view) {
    const ScaledExample x = unscaled(view);
    const auto joined = joining_.find(std::string(x.label));
    LabelId label = known_.find(x);
    if (label == kNoLabel && joined != joining_.end()) label = joined->second;
    const double p = label == kNoLabel ? join(x) : pass(x, label);
    if (++learned_ % lag_ == 0) announce();
    return p;
  }

  Ranked draw(const ExampleView& view, std::uint64_t random) const {
    const ScaledExample x = unscaled(view);
    DrawState draw_state{random};
    for (Partition at = 0;;) {
      const PartitionLearner::Drawn drawn = partitions_[at]->draw(x, draw_state);
      if (drawn.exit == 0) return {drawn.label, draw_state.probability};
      at = partitions_[at]->below(drawn.exit);
    }
  }

  // `remembers`: each partition is told what those before have found.
  Ranked best(const ExampleView& view, bool remembers) const {
    const ScaledExample x = unscaled(view);
    Ranked best;
    double least = 0;
    std::vector<std::pair<Partition, double>> open{{kRootPartition, 1.0}};
    while (!open.empty()) {
      const auto [at, above] = open.back();
      open.pop_back();
      const PartitionLearner::SearchResult found = partitions_[at]->search(x, above, least);
      if (remembers) least = found.least;
      const bool better = found.label != kNoLabel && (best.label == kNoLabel || found.probability > best.probability);
      const bool equal = found.label != kNoLabel && found.probability == best.probability && found.label < best.label;
      if (better || equal) best = {found.label, found.probability};
      for (const auto& way : found.exits) open.emplace_back(partitions_[at]->below(way.exit), way.probability);
    }
    return best;
  }

  // Tells of all labels that have joined.
  void announce() {
    for (const TreeChange& change : changes_) known_.apply(change);
    changes_.clear();
    joining_.clear();
    for (auto& partition : partitions_) partition->forget_recent_labels(static_cast<LabelId>(known_.tree().labels()));
  }

  const Learner& learner() const { return known_; }
  // Examples that were led through all partitions at once, by the places of their path alone.
  std::uint64_t led_at_once() const { return led_at_once_; }
  const PartitionLearner& partition(Partition p) const { return *partitions_[p]; }

 private:
  double pass(const ScaledExample& x, LabelId label) {
    std::vector<PathStep> path;
    if (label < known_.tree().labels()) known_.tree().path(label, path);
    std::vector<std::uint8_t> places;
    for (const PathStep& hop : path) places.push_back(hop.position);

    double parts[3] = {1, 1, 1};
    if (lead_at_once(x, label, places, parts)) return parts[0] * parts[1] * parts[2];
    Partition at = 0;
    for (std::size_t level = 0;; ++level) {
      partitions_[at]->locate(x, label, part_of(places, level), path_state_);
      const PartitionResult result = partitions_[at]->learn(path_state_);
      parts[level] = result.probability;
      if (result.exit == 0) return parts[0] * parts[1] * parts[2];
      at = partitions_[at]->below(result.exit);
    }
  }

  static std::span<const std::uint8_t> part_of(std::span<const std::uint8_t> places, std::size_t level) {
    const auto rest = places.subspan(std::min(level, places.size()));
    return level < 2 ? rest.first(std::min<std::size_t>(1, rest.size())) : rest;
  }

  // If nothing has moved since those who lead heard of it.
  bool lead_at_once(const ScaledExample& x, LabelId label, std::span<const std::uint8_t> places, double (&parts)[3]) {
    if (places.empty() || regressors_.arity() != 2) return false;
    path_state_.example = x;
    NodeRegressors::begin(label, path_state_);
    std::size_t ends[3] = {};
    for (std::size_t level = 0, at = 0; level < 3; ++level) {
      const auto part = part_of(places, level);
      if (!part.empty()) {
        if (partitions_[at]->moved().holds(label)) return false;
        regressors_.extend(top_header(static_cast<Partition>(at)), part, path_state_);
        if (level < 2 && part.back() > kLastSlot) at = partitions_[at]->below(part.back());
      }
      ends[level] = path_state_.path.size();
    }
    regressors_.finish_path(true, path_state_);
    regressors_.predict(path_state_);
    for (std::size_t hop = 0, level = 0; hop < path_state_.path.size(); ++hop) {
      while (hop == ends[level]) ++level;
      parts[level] *= regressors_.step_probability(path_state_, hop);
    }
    regressors_.train(path_state_);
    ++led_at_once_;
    return true;
  }

  double join(const ScaledExample& x) {
    const auto label = static_cast<LabelId>(known_.tree().labels() + changes_.size());
    InsertionState insertion = begin_insertion(known_.options().seed, label);
    PartitionLearner::InsertResult joined;
    for (Partition at = 0;; at = partitions_[at]->below(joined.result.exit)) {
      joined = joined.split != kNoLabel ? partitions_[at]->open(x, label, joined.split)
                                        : partitions_[at]->insert(x, label, insertion);
      if (joined.result.exit == 0) break;
    }
    changes_.push_back({std::string(x.label), {joined.split}, insertion.disagreements});
    joining_.emplace(x.label, label);
    return 0;
  }

  Learner known_;
  std::size_t lag_;
  std::vector<std::unique_ptr<PartitionLearner>> partitions_;
  std::map<std::string, LabelId> joining_;
  std::vector<TreeChange> changes_;
  NodeRegressors regressors_;
  PathState path_state_;
  std::uint64_t learned_ = 0;
  std::uint64_t led_at_once_ = 0;
};

ModelOptions with(TreeKind tree, Loss loss, Update update, double clip = 0.001) {
  ModelOptions options;
  options.bits = 16;
  options.tree = tree;
  options.loss = loss;
  options.update = update;
  options.clip = clip;
  if (update == Update::kSgd) options.learning_rate = 0.3;
  return options;
}

const StreamShape kStream{.seed = 5, .examples = 15000, .labels = 6000, .binary = false, .weighted = true};

class Partitions : public ::testing::TestWithParam<PartitionsCase> {};
ModelOptions with_ways(int ways, Loss loss) {
  ModelOptions options = with(TreeKind::kOnline, loss, Update::kAdaptive);
  options.method = Method::kConditionalPecoc;
  options.arity = ways;
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    All, Partitions,
    ::testing::Values(PartitionsCase{"online", with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive), 1},
                      PartitionsCase{"online_lag", with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive), 97},
                      PartitionsCase{"online_late", with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive),
                                     100000},
                      PartitionsCase{"squared_sgd", with(TreeKind::kOnline, Loss::kSquared, Update::kSgd, 0), 500},
                      PartitionsCase{"balanced", with(TreeKind::kBalanced, Loss::kSquared, Update::kAdaptive), 33},
                      PartitionsCase{"four_ways", with_ways(4, Loss::kLogistic), 97},
                      PartitionsCase{"eight_ways", with_ways(8, Loss::kSquared), 1},
                      PartitionsCase{"sixteen_ways", with_ways(16, Loss::kLogistic), 700},
                      PartitionsCase{"random", with(TreeKind::kRandom, Loss::kLogistic, Update::kSgd), 700}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_P(Partitions, LearnWhatOneLearnerLearns) {
  const Batch stream = random_stream(kStream);
  Learner whole(GetParam().options);
  Led led(GetParam().options, GetParam().lag);
  PathState path_state;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const ExampleView x = stream[i];
    LabelId label = whole.find(x);
    const bool is_new = label == kNoLabel;
    if (!is_new && i % 7 == 0) {
      const Ranked drawn = whole.draw(x, i).front();
      EXPECT_EQ(led.draw(x, i).label, drawn.label);
      EXPECT_EQ(led.draw(x, i).probability, drawn.probability);
      const Ranked best = whole.top_k(x, 1).front();
      for (const bool remembers : {false, true}) {
        EXPECT_EQ(led.best(x, remembers).label, best.label);
        EXPECT_EQ(led.best(x, remembers).probability, best.probability);
      }
    }
    if (is_new) label = whole.apply(whole.choose_split(x));
    whole.locate(x, label, path_state);
    const double p = whole.predict(path_state);
    whole.train(path_state);
    ASSERT_EQ(led.learn(x), is_new ? 0 : p) << "example " << i;
  }
  led.announce();
  EXPECT_EQ(led.learner().structure_digest(), whole.structure_digest());
  EXPECT_EQ(led.learner().disagreements(), whole.disagreements());
  EXPECT_EQ(led.learner().weights().digest(), whole.weights().digest());
  const bool by_places = GetParam().options.effective_arity() == 2 && GetParam().lag < stream.size();
  EXPECT_EQ(led.led_at_once() > stream.size() / 4, by_places);
  EXPECT_GT(whole.tree().blocks(), kPartitions + 100U);  // else no deep partition has grown blocks of its own
}

void expect_same_blocks(const PartitionLearner& a, const PartitionLearner& b) {
  ASSERT_EQ(a.blocks().size(), b.blocks().size());
  std::vector<std::pair<BlockId, BlockId>> pending{{0, 0}};
  while (!pending.empty()) {
    const auto [left, right] = pending.back();
    pending.pop_back();
    EXPECT_EQ(a.blocks().header(left).key, b.blocks().header(right).key);
    EXPECT_EQ(a.blocks().nodes(left).leaves, b.blocks().nodes(right).leaves);
    for (std::size_t place = 1; place < 32; ++place) {
      const Child one = a.blocks().nodes(left).child[place];
      const Child other = b.blocks().nodes(right).child[place];
      ASSERT_EQ(one.kind(), other.kind());
      if (one.kind() == Child::Kind::kBlock && !one.is_outside()) {
        pending.emplace_back(one.block(), other.block());
      } else {
        EXPECT_EQ(one, other);
      }
    }
  }
}

// What a partition has grown to is what another owner makes of the tree.
TEST(PartitionOfATree, IsThatWhichGrewThere) {
  const Batch stream = random_stream(kStream);
  const ModelOptions options = with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive);
  Led led(options, 50);
  for (std::size_t i = 0; i < stream.size(); ++i) led.learn(stream[i]);
  led.announce();
  EXPECT_EQ(find_invariant_violation(led.learner().tree(), options), "");
  WeightTable weights(options.bits);
  for (Partition p = 0; p < kPartitions; ++p) {
    expect_same_blocks(led.partition(p), PartitionLearner(p, led.learner().tree(), weights, options));
  }
}

TEST(PartitionOfATree, SaysWhereALabelIsLost) {
  const Batch stream = random_stream(kStream);
  const ModelOptions options = with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive);
  Led led(options, 1);
  for (std::size_t i = 0; i < 10; ++i) led.learn(stream[i]);
  Learner other(options);
  PartitionLearner root(kRootPartition, led.learner().tree(), other.weights(), options);
  PathState path_state;
  EXPECT_THROW(root.locate(unscaled(stream[0]), 99, {}, path_state), Error);
}

TEST(PartitionOfATree, RefusesAPathThroughABlockThatItDoesNotHave) {
  const Batch stream = random_stream(kStream);
  const ModelOptions options = with(TreeKind::kOnline, Loss::kLogistic, Update::kAdaptive);
  Led led(options, 1);
  for (std::size_t i = 0; i < 1000; ++i) led.learn(stream[i]);
  Learner other(options);
  PartitionLearner root(kRootPartition, led.learner().tree(), other.weights(), options);
  PathState path_state;
  for (std::uint8_t exit = 16; exit < 32; ++exit) {
    const std::vector<std::uint8_t> positions{exit, 16};
    EXPECT_THROW(root.locate(unscaled(stream[0]), 0, positions, path_state), Error) << int{exit};
  }
}

}  // namespace
}  // namespace cpt
