// Files that are read in parts: which, by whom, and that a run on parts is like a run on files.
#include "train/input/split_files.h"

#include <gmock/gmock.h>

#include <numeric>

#include "data/packed.h"
#include "data/shards/shards.h"
#include "store/run/checkpoints.h"
#include "train/checkpoint/resumed_job.h"
#include "train/setup/table_size.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One file of examples, bad lines and line ends of both kinds.
std::string one_file() {
  std::string text = random_lines({.seed = 3, .examples = 900, .labels = 50});
  text.insert(text.find('\n', text.size() / 3) + 1, "bad\r\n\r\n");
  text.insert(text.find('\n', text.size() / 2), "\r");
  return text;
}

ResumedJob split_job(std::uint32_t parts = 4) {
  ResumedJob job;
  job.options.split = parts;
  job.options.skip_bad_lines = true;
  job.add_data({one_file()});
  job.set_test({random_lines({.seed = 4, .examples = 150, .labels = 50})});
  return job;
}

std::vector<std::string> warnings_on(int ranks, const TrainingOptions& options) {
  Recorder recorder;
  results_on(ranks, options, {.observer = &recorder});
  return recorder.warnings;
}

TEST(SplitJob, PartitionedIsThatOfOneRankOnAnyNumber) {
  const ResumedJob job = split_job();
  const Outcome one = job.straight(1);
  EXPECT_EQ(one.train.examples, 900U);
  EXPECT_EQ(one.bad_lines, 1U);
  for (const int ranks : {2, 3, 6}) expect_same(job.straight(ranks), one);
  EXPECT_NE(split_job(1).straight(1).weights, one.weights) << "which has another order";
}

TEST(SplitJob, ReplicatedLearnsEachExampleOnce) {
  ResumedJob job = split_job(5);
  job.options.placement = Placement::kReplicated;
  const Outcome outcome = job.straight(3);
  EXPECT_EQ(outcome.train.examples, 900U);
  EXPECT_EQ(outcome.test.examples, 150U);
  EXPECT_EQ(outcome.bad_lines, 1U);
}

TEST(SplitJob, GoesOnInTheMiddleOfParts) {
  const Outcome expected = split_job().straight(1);
  for (const std::vector<int>& ranks : {std::vector{1, 3}, {3, 1}, {2, 5}}) {
    SCOPED_TRACE(::testing::PrintToString(ranks));
    ResumedJob job = split_job();
    job.run_until(ranks[0], {.call = 4});
    expect_same(job.finish(ranks[1]), expected);
  }
}

// As a run begins with it, so it goes on.
TEST(SplitJob, GoesOnWithThePartsThatItBeganWith) {
  const Outcome expected = split_job().straight(1);
  for (const std::uint32_t other : {1U, 3U}) {
    ResumedJob job = split_job();
    job.run_until(2, {.call = 4});
    job.options.split = other;
    expect_same(job.finish(2), expected);
  }
  ResumedJob whole = split_job(1);
  const Outcome unsplit = whole.straight(1);
  whole.run_until(2, {.call = 4});
  whole.options.split = 4;
  expect_same(whole.finish(2), unsplit);
}

TEST(SplitJob, FindsAllLabelsBeforehand) {
  ResumedJob job = split_job();
  job.options.model.method = Method::kPecoc;
  job.options.placement = Placement::kReplicated;
  EXPECT_EQ(results_on(3, job.options)[0].summary.tree.labels,
            results_on(1, split_job(1).options)[0].summary.tree.labels);
}

TEST(SplitJob, HasTheTableOfTheWholeFile) {
  const Folder folder;
  TrainingOptions options = small_job();
  options.auto_bits = true;
  options.data = {folder.write("a", random_lines({}) + std::string(3'000'000, '\n'))};
  const int bits = results_on(1, options)[0].model.learner().options().bits;
  EXPECT_GT(bits, kLeastAutoBits);
  options.split = 7;
  for (const int ranks : {1, 2}) EXPECT_EQ(results_on(ranks, options)[0].model.learner().options().bits, bits);
}

TEST(SplitJob, TellsOnceWhichFilesStayWhole) {
  const Folder folder;
  TrainingOptions options = small_job();
  const std::string text = random_lines({});
  options.data = {folder.write("a.vw", text), folder.write("b.gz", gzip(text))};
  EXPECT_THAT(warnings_on(1, options), IsEmpty());
  options.split = 3;
  const std::string b = (folder / "b.gz").string();
  EXPECT_THAT(warnings_on(2, options), ElementsAre(b + ": --split leaves it whole, since it is compressed"));
  options.test = {folder.write("c.zst", zstd(text)), folder.write("empty", "")};
  EXPECT_THAT(warnings_on(2, options),
              ElementsAre(b + ": --split leaves it whole, since it is compressed; and 1 other"));
}

TEST(SplitJob, IsProposedWhereRanksHaveNothingToRead) {
  const Folder folder;
  TrainingOptions options = small_job();
  const std::string text = random_lines({});
  options.data = {folder.write("a", text)};
  EXPECT_THAT(warnings_on(1, options), IsEmpty());
  EXPECT_THAT(warnings_on(4, options),
              ElementsAre("3 of 4 ranks have nothing to read; --split 4 lets ranks share a file"));
  options.split = 2;
  EXPECT_THAT(warnings_on(3, options),
              ElementsAre("1 of 3 ranks has nothing to read; --split 3 lets ranks share a file"));
  options.split = 3;
  EXPECT_THAT(warnings_on(3, options), IsEmpty());
}

TEST(IdleRanks, AreHelpedWhereAFileCanBeSplit) {
  const Folder folder;
  const auto file = [&](const char* name, const std::string& content) {
    return find_shards({folder.write(name, content)}).at(0);
  };
  const Shard a = file("a", "a | x\n");
  const Shard b = file("b", "a | x\n");
  const Shard packed = file("packed", gzip("a | x\n"));
  const Shard empty = file("empty", "");
  const auto warning = [](const std::vector<Shard>& shards, int ranks) {
    return warning_of_idle_ranks(shards, std::vector<bool>(static_cast<std::size_t>(ranks), true), true);
  };
  EXPECT_EQ(warning({a, b, packed, empty}, 3), "");
  EXPECT_EQ(warning({a, b, packed, empty}, 4), "1 of 4 ranks has nothing to read; --split 2 lets ranks share a file");
  EXPECT_EQ(warning({a, b, packed}, 9), "6 of 9 ranks have nothing to read; --split 4 lets ranks share a file");
  EXPECT_EQ(warning({packed, empty}, 2),
            "1 of 2 ranks has nothing to read; cpt convert FILE OUT --shards 2 makes more");
  EXPECT_EQ(warning({empty}, 2), "there is nothing to read: all shards are empty");
  EXPECT_EQ(warning({a}, 5000), "4999 of 5000 ranks have nothing to read");
  EXPECT_EQ(warning(split(a, 100), 8), "2 of 8 ranks have nothing to read; cpt convert FILE OUT --shards 8 makes more")
      << "it has six bytes";
  EXPECT_EQ(warning_of_idle_ranks({a, b}, {false, true, true}, true), "");
  EXPECT_EQ(warning_of_idle_ranks({a}, {false, true, true}, true),
            "1 of 2 ranks that read has nothing to read; --split 2 lets ranks share a file");
  EXPECT_EQ(warning_of_idle_ranks({a}, {true, true}, false), "1 of 2 ranks has nothing to read");
}

}  // namespace
}  // namespace cpt
