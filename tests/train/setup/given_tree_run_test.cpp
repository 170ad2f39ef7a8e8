// Runs that begin with a given tree: Algorithm 1 for its labels, Algorithm 2 for those that join it.
#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <sstream>

#include "api/options/given_tree_files.h"
#include "data/pipeline/example_stream.h"
#include "model/learning/learner.h"
#include "model/tree/bounds.h"
#include "train/checkpoint/resumed_job.h"
#include "train/errors.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// As `cpt dump` writes it.
std::string tree_text(const Learner& learner) {
  const Tree& tree = learner.tree();
  std::vector<std::string> paths;
  for (LabelId label = 0; label < tree.labels(); ++label) {
    const LabelId old = tree.split_for(label);
    paths.push_back(old == kNoLabel ? "" : paths[old] + "1");
    if (old != kNoLabel) paths[old] += "0";
  }
  std::string text = "cpt-tree 1 " + std::to_string(paths.size()) + "\n";
  for (LabelId label = 0; label < paths.size(); ++label) {
    text += paths[label] + "\t" + std::string(learner.labels().name(label)) + "\n";
  }
  return text;
}

std::vector<std::string> names_in(const std::string& tree) {
  std::istringstream lines(tree);
  std::vector<std::string> names;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) names.push_back(line.substr(line.find('\t') + 1));
  return names;
}

TrainingOptions with_tree(TrainingOptions options, const std::string& source) {
  options.model.tree = TreeKind::kGiven;
  options.given_tree = source;
  return options;
}

// By number of ranks: the tree of an earlier run over the same data, and more data whose labels are partly new.
class GivenTreeRun : public ::testing::TestWithParam<int> {
 protected:
  GivenTreeRun() {
    options_.placement = Placement::kPartitioned;
    options_.model.bits = 16;
    options_.sync_examples = 400;
    options_.data = shards("first", 0);
  }

  int ranks() const { return GetParam(); }

  std::vector<std::string> shards(const std::string& name, std::size_t first_label) const {
    std::vector<std::string> paths;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const Lines lines{.seed = i + 1, .examples = 400, .labels = 150, .first_label = first_label + 60 * i};
      paths.push_back(folder_.write(name + std::to_string(i), random_lines(lines)));
    }
    return paths;
  }

  // What the first run says, whose tree is then in the file.
  Summary grow() {
    const TrainingResult grown = std::move(results_on(1, options_)[0]);
    text_ = tree_text(grown.model.learner());
    file_ = folder_.write("grown.tree", text_);
    return grown.summary;
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
  std::string file_;
  std::string text_;
};
INSTANTIATE_TEST_SUITE_P(Ranks, GivenTreeRun, ::testing::Values(1, 2, 3, 5));

TEST_P(GivenTreeRun, HasTheTreeThatWasGiven) {
  const Summary grown = grow();
  ASSERT_GT(grown.tree.labels, 200U);
  for (const Placement placement : {Placement::kPartitioned, Placement::kReplicated}) {
    options_.placement = placement;
    for (const TrainingResult& result : results_on(ranks(), with_tree(options_, "file:" + file_))) {
      EXPECT_EQ(result.summary.tree.digest, grown.tree.digest);
      EXPECT_EQ(tree_text(result.model.learner()), text_);
      EXPECT_EQ(result.summary.tree.disagreements, 0U);
      EXPECT_EQ(result.summary.tree.depth_bound, 0);
      EXPECT_EQ(result.summary.train.new_labels, 0U);
      EXPECT_EQ(result.summary.train.examples, grown.train.examples);
      EXPECT_EQ(result.model.learner().options().tree, TreeKind::kGiven);
    }
  }
}

TEST_P(GivenTreeRun, HasTheWeightsOfOneRankWhereTheyArePartitioned) {
  grow();
  options_.passes = 2;
  options_.test = shards("second", 150);
  const TrainingOptions given = with_tree(options_, "file:" + file_);
  const Outcome one = outcome_on(1, given);
  EXPECT_GT(one.test.new_labels, 30U);
  expect_same(outcome_on(ranks(), given), one);
}

// A model that has the tree and learns the examples one by one.
TEST_P(GivenTreeRun, LearnsAsAModelWithThisTreeDoes) {
  grow();
  options_.data.resize(1);
  const TrainingOptions given = with_tree(options_, "file:" + file_);
  Model model(std::make_unique<Learner>(given.model));
  for (const TreeChange& change : read_given_tree({TreeSource::Kind::kTree, file_})) model.learner().apply(change);
  ReadOptions reading;
  reading.seed = given.model.seed;
  ExampleStream stream(find_shards({given.data[0]}), {0}, reading);
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  double squared = 0;
  double weight = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const double p = model.learn(batch[i]);
    EXPECT_GT(p, 0) << "a label of the tree is not new";
    squared += batch[i].importance * (1 - p) * (1 - p);
    weight += batch[i].importance;
  }
  for (const TrainingResult& result : results_on(ranks(), given)) {
    EXPECT_EQ(result.summary.tree.digest, digests_of(model).structure);
    EXPECT_EQ(result.summary.weight_digest, digests_of(model).weights);
    EXPECT_NEAR(result.summary.train.mean_squared(), squared / weight, 1e-9);
  }
}

TEST_P(GivenTreeRun, LetsNewLabelsJoin) {
  const Summary grown = grow();
  for (const Placement placement : {Placement::kPartitioned, Placement::kReplicated}) {
    options_.placement = placement;
    options_.data = shards("second", 150);
    std::string first;
    for (const TrainingResult& result : results_on(ranks(), with_tree(options_, "file:" + file_))) {
      const Learner& learner = result.model.learner();
      EXPECT_EQ(find_invariant_violation(learner.tree(), learner.options()), "");
      EXPECT_GT(learner.tree().labels(), grown.tree.labels + 30);
      // Ranks that hold all weights may meet a new label in the same round, and each counts it.
      EXPECT_LE(learner.tree().labels(), grown.tree.labels + result.summary.train.new_labels);
      if (placement == Placement::kPartitioned) {
        EXPECT_EQ(learner.tree().labels(), grown.tree.labels + result.summary.train.new_labels);
      }
      const std::vector<std::string> given = names_in(text_);
      for (LabelId label = 0; label < grown.tree.labels; ++label) {
        ASSERT_EQ(learner.labels().name(label), given[label]);
      }
      if (first.empty()) first = tree_text(learner);
      EXPECT_EQ(tree_text(learner), first);
    }
  }
}

TEST_P(GivenTreeRun, BeginsWithHuffmansTree) {
  std::string counts;
  for (int i = 0; i < 210; ++i) counts += "label-" + std::to_string(i) + "\t" + std::to_string(1 + i * i) + "\n";
  const TrainingOptions given = with_tree(options_, "huffman:" + folder_.write("counts", counts));
  const std::vector<TrainingResult> results = results_on(ranks(), given);
  for (const TrainingResult& result : results) {
    const Tree& tree = result.model.learner().tree();
    const LabelDictionary& labels = result.model.learner().labels();
    const auto depth_of = [&](const std::string& name) { return tree.depth(labels.find(name, hash_label(name))); };
    EXPECT_LT(depth_of("label-209"), depth_of("label-100"));
    EXPECT_LT(depth_of("label-100"), depth_of("label-0"));
  }
  expect_same(outcome_on(ranks(), given), outcome_on(1, given));
}

TEST_P(GivenTreeRun, MayBeginWithAnEmptyTree) {
  const TrainingResult online = std::move(results_on(1, options_)[0]);
  const TrainingOptions given = with_tree(options_, "file:" + folder_.write("empty", "cpt-tree 1 0\n"));
  for (const TrainingResult& result : results_on(ranks(), given)) {
    EXPECT_EQ(result.summary.tree.digest, online.summary.tree.digest);
    EXPECT_EQ(result.summary.weight_digest, online.summary.weight_digest);
  }
}

// The tree is in the checkpoint. A request ends a sync interval of replicas early, so they are compared with a run
// that is asked for a checkpoint there, and goes on.
TEST_P(GivenTreeRun, GoesOnWithoutTheFile) {
  grow();
  for (const Placement placement : {Placement::kPartitioned, Placement::kReplicated}) {
    const auto job = [&] {
      ResumedJob begun;
      begun.options.placement = placement;
      begun.options.passes = 2;
      begun.options.data = shards("second", 100);
      begun.options = with_tree(begun.options, "file:" + folder_.write("given", text_));
      return begun;
    };
    const Outcome went_on = job().finish(ranks(), {.request = Request::kCheckpoint, .call = 3});
    EXPECT_GT(went_on.train.new_labels, 10U);
    ResumedJob stopped = job();
    stopped.run_until(ranks(), {.call = 3});
    std::filesystem::remove(folder_ / "given");
    expect_same(stopped.finish(ranks()), went_on);
  }
}

// A model that began with a given tree has a tree as any other has.
TEST_P(GivenTreeRun, LeavesAModelToBeginWith) {
  grow();
  options_.model.learning_rate = 0.5;
  std::move(results_on(1, with_tree(options_, "file:" + file_))[0].model).into_model().save(folder_ / "model");
  const Model loaded = Model::load(folder_ / "model");
  EXPECT_EQ(loaded.options().tree, TreeKind::kGiven);
  EXPECT_EQ(tree_text(loaded.learner()), text_);

  TrainingOptions more;
  more.init = (folder_ / "model").string();
  more.data = shards("second", 150);
  for (const TrainingResult& result : results_on(ranks(), more)) {
    EXPECT_EQ(result.model.learner().options().learning_rate, 0.5);
    EXPECT_GT(result.summary.train.new_labels, 30U);
  }
}

class GivenTreeErrors : public Errors {};
INSTANTIATE_TEST_SUITE_P(, GivenTreeErrors, ::testing::Values(Placement::kPartitioned, Placement::kReplicated));

TEST_P(GivenTreeErrors, AreThoseOfRankZeroAlone) {
  options_ = with_tree(options_, "file:" + folder_.write("tree", "cpt-tree 1 2\n0\ta\n11\tb\n"));
  EXPECT_THAT(agreed_error(Fault::kBadData),
              AllOf(StartsWith("rank 0 on "), HasSubstr("/tree:3: expected "), Not(HasSubstr("more ranks"))));
  options_.given_tree = "huffman:" + (folder_ / "nowhere").string();
  EXPECT_THAT(agreed_error(Fault::kNoInput), AllOf(StartsWith("rank 0 on "), HasSubstr("nowhere")));
}

TEST(GivenTreeOptions, BelongTogether) {
  const auto refusal = [](TrainingOptions options) {
    options.data = {"data"};
    const Thrown thrown = thrown_by([&] { options.validate(); });
    EXPECT_EQ(thrown.fault.value_or(Fault::kUsage), Fault::kUsage);
    return thrown.text;
  };
  const TrainingOptions given = with_tree({}, "file:tree");
  EXPECT_EQ(refusal(given), "");
  EXPECT_EQ(refusal(with_tree({}, "huffman:counts")), "");
  TrainingOptions wrong = given;
  wrong.init = "model";
  EXPECT_EQ(refusal(wrong), "--tree file:tree and --init model both bring a tree: leave one of them out");
  wrong.given_tree.clear();
  EXPECT_EQ(refusal(wrong), "");
  EXPECT_THAT(refusal(with_tree({}, "")), HasSubstr("--tree file:PATH or --tree huffman:PATH"));
  EXPECT_THAT(refusal(with_tree({}, "tree:x")), HasSubstr("--tree tree:x does not name a file"));
  wrong = given;
  wrong.model.tree = TreeKind::kOnline;
  EXPECT_THAT(refusal(wrong), HasSubstr("--tree file:tree does not name a file that gives the tree"));
}

}  // namespace
}  // namespace cpt
