#include "model/tree/tree.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/random_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

// A tree that knows each label's path as a string of sides, and nothing of blocks.
class PathTwin {
 public:
  void add_first() { paths_.push_back(""); }
  void split(LabelId old) {
    paths_.push_back(paths_[old] + '1');
    paths_[old] += '0';
  }
  const std::string& path(LabelId label) const { return paths_[label]; }
  std::size_t labels() const { return paths_.size(); }

 private:
  std::vector<std::string> paths_;
};

std::string path_string(const Tree& tree, LabelId label) {
  std::vector<PathStep> hops;
  tree.path(label, hops);
  std::string path;
  for (const PathStep& hop : hops) {
    for (std::uint32_t level = position_depth(hop.position); level-- > 0;)
      path += (hop.position >> level & 1) == 1 ? '1' : '0';
  }
  return path;
}

ModelOptions any_balance() {
  ModelOptions options;
  options.tree = TreeKind::kRandom;
  return options;
}

TEST(Tree, GrowsFromNothing) {
  Tree tree;
  EXPECT_TRUE(tree.empty());
  EXPECT_EQ(find_invariant_violation(tree, {}), "");
  EXPECT_EQ(tree.add_first(), 0U);
  EXPECT_FALSE(tree.empty());
  EXPECT_EQ(tree.depth(0), 0U);
  EXPECT_EQ(tree.leaf(0).position, 1);
  EXPECT_EQ(find_invariant_violation(tree, {}), "");
}

TEST(Tree, ASplitHangsTheOldLabelLeftAndTheNewOneRight) {
  Tree tree;
  tree.add_first();
  EXPECT_EQ(tree.split(0), 1U);
  EXPECT_EQ(path_string(tree, 0), "0");
  EXPECT_EQ(path_string(tree, 1), "1");
  EXPECT_EQ(tree.split(0), 2U);
  EXPECT_EQ(path_string(tree, 0), "00");
  EXPECT_EQ(path_string(tree, 2), "01");
  EXPECT_EQ(tree.nodes(0).leaves[1], 3U);
  EXPECT_EQ(tree.nodes(0).leaves[2], 2U);
  EXPECT_EQ(tree.nodes(0).leaves[3], 1U);
}

TEST(Tree, AFifthLevelOpensABlock) {
  const Tree tree = chain(6);
  EXPECT_EQ(tree.blocks(), 2U);
  EXPECT_EQ(tree.header(1).parent, 0U);
  EXPECT_EQ(tree.header(1).parent_position, 31);
  EXPECT_EQ(tree.header(1).level, 1);
  EXPECT_EQ(tree.nodes(0).child[31], Child::block(1));
  EXPECT_EQ(path_string(tree, 5), "11111");
}

TEST(Tree, PathsAreThoseOfATreeWithoutBlocks) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Dice dice(seed);
    Tree tree;
    PathTwin twin;
    tree.add_first();
    twin.add_first();
    for (int i = 1; i < 3000; ++i) {
      // Often the newest, so that some paths are long.
      const std::size_t old = dice.chance(0.3) ? tree.labels() - 1 : dice.below(tree.labels());
      tree.split(static_cast<LabelId>(old));
      twin.split(static_cast<LabelId>(old));
    }
    for (LabelId label = 0; label < twin.labels(); ++label) {
      ASSERT_EQ(path_string(tree, label), twin.path(label));
      ASSERT_EQ(tree.depth(label), twin.path(label).size());
    }
    EXPECT_EQ(find_invariant_violation(tree, any_balance()), "");
  }
}

TEST(Tree, PlacesAreThoseOfThePath) {
  const Tree tree = random_tree(2000, 5);
  std::vector<PathStep> path;
  std::vector<std::uint8_t> positions{1, 2, 3};
  for (LabelId label = 0; label < tree.labels(); ++label) {
    tree.path(label, path);
    tree.positions(label, positions);
    ASSERT_EQ(positions.size(), path.size());
    for (std::size_t hop = 0; hop < path.size(); ++hop) ASSERT_EQ(positions[hop], path[hop].position);
  }
}

TEST(Tree, NodesNeverMove) {
  Tree tree = random_tree(500, 3);
  std::vector<std::vector<PathStep>> before(tree.labels());
  for (LabelId label = 0; label < before.size(); ++label) tree.path(label, before[label]);
  Dice dice(4);
  for (int i = 0; i < 2000; ++i) tree.split(static_cast<LabelId>(dice.below(tree.labels())));
  for (LabelId label = 0; label < before.size(); ++label) {
    std::vector<PathStep> after;
    tree.path(label, after);
    ASSERT_GE(after.size(), before[label].size());
    for (std::size_t hop = 0; hop < before[label].size(); ++hop) {
      ASSERT_EQ(after[hop].block, before[label][hop].block);
      // The old position, or below it.
      std::uint32_t position = after[hop].position;
      while (position > before[label][hop].position) position /= 2;
      ASSERT_EQ(position, before[label][hop].position);
    }
  }
}

TEST(Tree, DeepBlocksKeepTheirPartition) {
  const Tree tree = chain(3000);
  EXPECT_EQ(tree.depth(2999), 2999U);
  EXPECT_EQ(tree.blocks(), 750U);
  EXPECT_EQ(find_invariant_violation(tree, any_balance()), "");
  for (BlockId block = 2; block < tree.blocks(); ++block) {
    EXPECT_EQ(tree.header(block).partition, tree.header(2).partition);
    EXPECT_EQ(tree.header(block).level, std::min(block, 255U));
  }
}

TEST(Tree, EveryPartitionHasOneTopBlock) {
  // A complete tree of 12 levels has 1 + 16 + 256 blocks, one for each partition.
  Tree tree;
  tree.add_first();
  for (LabelId size = 1; size < 4096; size *= 2) {
    for (LabelId label = 0; label < size; ++label) tree.split(label);
  }
  std::set<Partition> partitions;
  for (BlockId block = 0; block < tree.blocks(); ++block) partitions.insert(tree.header(block).partition);
  EXPECT_EQ(tree.blocks(), kPartitions);
  EXPECT_EQ(partitions.size(), kPartitions);
  EXPECT_EQ(*partitions.rbegin(), kPartitions - 1);
  EXPECT_EQ(find_invariant_violation(tree, {}), "");
}

// The keys of blocks come from where they hang: whatever order they were opened in, equal trees have equal keys.
TEST(Tree, KeysDoNotDependOnTheOrderOfOpening) {
  const auto grow = [](const std::vector<LabelId>& splits) {
    Tree tree;
    tree.add_first();
    for (LabelId label : splits) tree.split(label);
    return tree;
  };
  // 0 and 1 each become a chain of blocks of their own, in one order and in the other.
  const Tree one = grow({0, 0, 0, 0, 0, 1, 1, 1, 1});
  const Tree other = grow({0, 1, 1, 1, 1, 0, 0, 0, 0});
  ASSERT_EQ(one.blocks(), 3U);
  ASSERT_EQ(other.blocks(), 3U);
  EXPECT_EQ(one.header(1).key, other.header(2).key);
  EXPECT_EQ(one.header(2).key, other.header(1).key);
}

TEST(Tree, TheDigestTellsTreesApart) {
  std::map<std::uint64_t, std::string> trees;  // digest to paths
  Dice dice(9);
  for (int i = 0; i < 3000; ++i) {
    const Tree tree = random_tree(1 + dice.below(6), dice.bits());
    std::string paths;
    for (LabelId label = 0; label < tree.labels(); ++label) paths += path_string(tree, label) + ',';
    EXPECT_EQ(trees.emplace(tree.digest(), paths).first->second, paths);
  }
  EXPECT_EQ(trees.size(), 1 + 1 + 2 + 6 + 24 + 120U);  // every order of splits makes its own tree
  EXPECT_NE(Tree().digest(), random_tree(1, 1).digest());
}

}  // namespace
}  // namespace cpt
