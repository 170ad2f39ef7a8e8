// Jobs that begin with a given tree: the files, the command line, and what is refused.
#include "mpi/job_checkpoints.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class GivenTreeOfAJob : public CheckpointTest {
 protected:
  std::string dump_model(const std::string& name) {
    const Outcome outcome = start_command({CPT_PROGRAM, "dump", "--model", (run_directory() / "model").string(),
                                           "--output", path(name).string()})
                                ->wait(kSoon);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return path(name).string();
  }
  Words with_tree(const std::string& tree, const Words& more = {}) const {
    return train({shards()}, joined({"--tree", tree}, more));
  }
};

TEST_F(GivenTreeOfAJob, IsWhatDumpWritesAndIsDumpedTheSame) {
  expect_complete(run_alone(train({shards()})));
  const Json grown = summary();
  const std::string tree = dump_model("grown.tree");
  for (const char* placement : {"partitioned", "replicated", "hybrid"}) {
    expect_complete(run(3, with_tree("file:" + tree, {"--placement", placement})));
    EXPECT_EQ(content_of(dump_model("again.tree")), content_of(tree));
    const Json told = summary();
    EXPECT_EQ(told["tree"]["digest"], grown["tree"]["digest"]);
    EXPECT_TRUE(told["tree"]["depth_bound"].is_null());
    EXPECT_EQ(told["train"]["new_labels"], 0);
    EXPECT_EQ(told["options"]["tree"], "file:" + tree);
  }
}

TEST_F(GivenTreeOfAJob, IsHuffmansTreeOfCounts) {
  const std::string counts = file("counts", "l1\t1\nl2\t1\nl3\t10\n");
  expect_complete(run(2, with_tree("huffman:" + counts)));
  const Json told = summary();
  EXPECT_EQ(told["options"]["tree"], "huffman:" + counts);
  EXPECT_EQ(lines_of(content_of(dump_model("made.tree"))).size(), 1 + std::size_t{told["tree"]["labels"]});
}

TEST_F(GivenTreeOfAJob, IsRefusedWithFileAndLineWhereItIsNone) {
  expect_failed(run(2, with_tree("file:" + file("bad.tree", "cpt-tree 1 2\n0\ta\n2\tb\n"))), kBadData,
                AllOf(StartsWith("cpt_dist: rank 0 on "),
                      EndsWith("/bad.tree:3: expected sides, each 0 or 1, or - for an only leaf, found '2'")));
  expect_failed(run(2, with_tree("huffman:" + file("counts", "a\t1\na\t2\n"))), kBadData,
                HasSubstr("/counts:2: expected another label than on line 1, found 'a'"));
}

TEST_F(GivenTreeOfAJob, CostsAnEarlierRunNothingWhereItIsMissing) {
  expect_complete(run_alone(train({shards()})));
  const Outcome outcome = run(2, with_tree("file:" + path("nowhere").string()));
  EXPECT_EQ(outcome.code, kNoInput);
  EXPECT_THAT(outcome.err, HasSubstr("nowhere: open failed: No such file"));
  expect_complete();
}

TEST_F(GivenTreeOfAJob, IsAUsageErrorWithoutAFileOrWithAModel) {
  for (const char* tree : {"file:", "huffman:", "file:-", "given"}) {
    expect_failed(
        run_alone(with_tree(tree)), kUsage,
        HasSubstr("'" + std::string(tree) + "' is none of: balanced, online, random, file:PATH, huffman:PATH"));
  }
  expect_failed(run(2, with_tree("file:x", {"--init", "model"})), kUsage,
                HasSubstr("--tree file:x and --init model both bring a tree"));
}

TEST_F(GivenTreeOfAJob, GoesOnWithoutTheFileButNotWithAnother) {
  const std::string counts = file("counts", "l1\t1\nl2\t1\nl3\t10\n");
  const Words twice{"--passes", "2"};
  expect_complete(run(2, with_tree("huffman:" + counts, joined(twice, {"--keep", "100"}))));
  const Json straight = figures();
  rewind(1);
  fs::remove(counts);
  const Words again = joined(twice, {"--resume"});
  expect_failed(run(2, with_tree("online", again)), kUsage,
                AllOf(HasSubstr("--tree is online, but the run in "), HasSubstr("was started with huffman:" + counts)));
  expect_failed(run(2, with_tree("file:" + counts, again)), kUsage,
                HasSubstr("--tree is file:" + counts + ", but the run in "));
  expect_complete(run(3, with_tree("huffman:" + counts, again)));
  EXPECT_EQ(figures(), straight);
  EXPECT_EQ(summary()["options"]["tree"], "huffman:" + counts);
}

TEST_F(GivenTreeOfAJob, IsToldByTheModelThatComesOfIt) {
  expect_complete(run_alone(with_tree("huffman:" + file("counts", "l1\t1\nl2\t1\n"))));
  fs::rename(run_directory(), path("made"));
  const Words begin{"--init", (path("made") / "model").string(), "--data",     shards(),
                    "--run",  run_directory().string(),          "--overwrite"};
  expect_complete(run(2, begin));
  EXPECT_EQ(summary()["options"]["tree"], "given");
  const Outcome refused = run(2, joined(begin, {"--tree", "random"}));
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("was trained with given"));
}

}  // namespace
}  // namespace cpt::testing
