#include "app/program.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;

class DumpTest : public TrainedTest {};

// The paths that follow from the splits alone.
Words paths_by_splits(const Tree& tree) {
  Words paths;
  for (LabelId label = 0; label < tree.labels(); ++label) {
    const LabelId old = tree.split_for(label);
    if (old == kNoLabel) {
      paths.emplace_back();
    } else {
      const std::string node = paths[old];
      paths[old] = node + "0";
      paths.push_back(node + "1");
    }
  }
  return paths;
}

TEST_F(DumpTest, GivesEveryLabelsPathInTheOrderOfJoining) {
  const Learner& learner = model().learner();
  const Words paths = paths_by_splits(learner.tree());
  Words expected{"cpt-tree 1 40"};
  for (LabelId label = 0; label < paths.size(); ++label) {
    expected.push_back(paths[label] + "\t" + std::string(learner.labels().name(label)));
    EXPECT_EQ(paths[label].size(), learner.tree().depth(label));
  }
  EXPECT_EQ(results({"dump", "--model", "model"}), expected);
  EXPECT_EQ(results({"dump", "model"}), expected);

  EXPECT_THAT(results({"dump", "--model", "model", "--output", "tree.txt"}), ElementsAre());
  EXPECT_EQ(lines_of(content_of(path("tree.txt"))), expected);
}

TEST_F(DumpTest, GivesOneOfSeveralTrees) {
  ModelOptions options = model_options();
  options.trees = 2;
  Model two(options);
  learn_and_save(two, "two");
  const Model loaded = Model::load(path("two"));
  EXPECT_EQ(loaded.options().trees, 2);
  EXPECT_EQ(loaded.learner().state_digest(), two.learner().state_digest());
  for (const std::string number : {"1", "2"}) {
    const Words dumped = results({"dump", "--model", "two", "--tree", number});
    const Words paths = paths_by_splits(two.learner().tree(std::stoul(number) - 1));
    ASSERT_EQ(dumped.size(), paths.size() + 1);
    for (LabelId label = 0; label < paths.size(); ++label) {
      EXPECT_EQ(dumped[label + 1], paths[label] + "\t" + std::string(two.learner().labels().name(label)));
    }
  }
  EXPECT_NE(results({"dump", "--model", "two", "--tree", "2"}), results({"dump", "--model", "two"}));
  expect_failure({"dump", "--model", "two", "--tree", "3"}, 2, "--tree is 3, and the model has 2");
}

TEST_F(DumpTest, ASingleLeafHasNoPath) {
  Model one(model_options());
  one.learn(examples("test.vw")[0]);
  one.save(path("one"));
  EXPECT_THAT(results({"dump", "--model", "one"}),
              ElementsAre("cpt-tree 1 1", "-\t" + std::string(examples("test.vw")[0].label)));
}

TEST_F(DumpTest, AnEmptyTreeIsTheFirstLine) {
  Model(model_options()).save(path("empty"));
  EXPECT_THAT(results({"dump", "--model", "empty"}), ElementsAre("cpt-tree 1 0"));
}

TEST_F(DumpTest, RefusesALabelThatWouldBreakItsLine) {
  for (const char* name : {"two\nlines", "dos\r"}) {
    Model odd(model_options());
    Batch batch;
    batch.finish_example(name, 1, {});
    odd.learn(batch[0]);
    odd.save(path("odd"));
    expect_failure({"dump", "--model", "odd", "--output", "tree.txt"}, 1,
                   "cpt: label 0 has a line end in its name and cannot be written\n");
    EXPECT_FALSE(std::filesystem::exists(path("tree.txt")));
  }
}

}  // namespace
}  // namespace cpt
