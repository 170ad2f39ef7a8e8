// A run that ends with a checkpoint writes its model from that: the same files as from memory, and those that are the
// same in both only once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/model_files.h"
#include "comm/interposed.h"
#include "cpt/model.h"
#include "store/blob/blob_set.h"
#include "store/run/checkpoints.h"
#include "train/files_in.h"
#include "train/job.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointModel : public ::testing::Test {
 protected:
  // Regions of a table of 13 bits share segments of the blobs of weights, those of 20 bits have their own; of one of 18
  // bits the deep ones share.
  static constexpr int kSmall = 13;
  static constexpr int kMixed = 18;
  static constexpr int kLarge = 20;

  TrainingOptions job(int bits, Placement placement = Placement::kPartitioned, Method method = Method::kTree) const {
    TrainingOptions options = small_job();
    options.model.bits = bits;
    options.model.method = method;
    options.placement = placement;
    options.data = {folder_.write("a", random_lines({.seed = 1, .labels = 400})),
                    folder_.write("b", random_lines({.seed = 2, .labels = 300})),
                    folder_.write("c", random_lines({.seed = 3, .labels = 200}))};
    options.checkpoints.directory = checkpoints_;
    return options;
  }

  std::vector<TrainingResult> run(int ranks, const TrainingOptions& options) const {
    return results_on(ranks, options, {.model = model_});
  }

  // The model of the same run without a checkpoint.
  Files files_from_memory(int ranks, TrainingOptions options) const {
    options.checkpoints.keep = 0;
    results_on(ranks, options, {.model = folder_ / "from memory"});
    return files_in(folder_ / "from memory");
  }

  fs::path newest() const { return Checkpoints(checkpoints_).list().back().directory; }
  bool is_shared(const std::string& file, const std::string& in_checkpoint) const {
    return fs::equivalent(model_ / file, newest() / in_checkpoint);
  }

  Folder folder_;
  fs::path checkpoints_ = folder_ / "checkpoints";
  fs::path model_ = folder_ / "model";
};

TEST_F(CheckpointModel, HasTheFilesOfAModelFromMemoryOnAnyNumberOfRanks) {
  for (const int bits : {kSmall, kMixed, kLarge}) {
    const Files expected = files_from_memory(1, job(bits));
    for (const int ranks : {1, 3}) {
      SCOPED_TRACE(std::to_string(bits) + " bits, " + std::to_string(ranks) + " ranks");
      run(ranks, job(bits));
      EXPECT_EQ(files_in(model_), expected);
      EXPECT_TRUE(is_shared("tree", "tree"));
      EXPECT_EQ(is_shared("weights", "weights-00000"), ranks == 1);
      EXPECT_GT(verify_checkpoint(newest()), 0U);
    }
    const TrainingOptions replicated = job(bits, Placement::kReplicated);
    const Files of_replicas = files_from_memory(3, replicated);
    run(3, replicated);
    EXPECT_EQ(files_in(model_), of_replicas) << bits << " bits, 3 replicas";
  }
}

// A rank that has some partitions only would predict from zeros in the place of the others.
TEST_F(CheckpointModel, OfSomePartitionsCannotPredict) {
  for (TrainingResult& result : run(2, job(kSmall))) {
    EXPECT_FALSE(result.model.is_whole());
    EXPECT_EQ(thrown_by([&] { std::move(result.model).into_model(); }).fault, Fault::kFailed);
  }
  for (TrainingResult& result : run(2, job(kSmall, Placement::kReplicated))) {
    EXPECT_GT(std::move(result.model).into_model().labels(), 0U);
  }
}

TEST_F(CheckpointModel, IsThatOfEveryMethod) {
  for (const Method method : {Method::kConditionalPecoc, Method::kOneAgainstAll, Method::kTable, Method::kPecoc}) {
    for (const int ranks : {1, 2}) {
      SCOPED_TRACE("method " + std::to_string(static_cast<int>(method)) + ", ranks " + std::to_string(ranks));
      const TrainingOptions options = job(kSmall, Placement::kReplicated, method);
      const Files expected = files_from_memory(ranks, options);
      EXPECT_EQ(expected.contains("counts"), method == Method::kTable);
      const std::vector<TrainingResult> results = run(ranks, options);
      EXPECT_EQ(files_in(model_), expected);
      EXPECT_EQ(digests_of(Model::load(model_)), digests_of(results[0].model));
      const std::string largest = method == Method::kTable ? "counts" : "tree";
      EXPECT_TRUE(is_shared(largest, largest));
    }
  }
}

TEST_F(CheckpointModel, OutlivesTheCheckpoint) {
  for (const int ranks : {1, 2}) {
    run(ranks, job(kSmall));
    const Files before = files_in(model_);
    Checkpoints(checkpoints_).remove_all();
    EXPECT_EQ(files_in(model_), before);
    EXPECT_GT(Model::load(model_).labels(), 0U);
  }
}

// Nothing that a later run writes is written into files that are there.
TEST_F(CheckpointModel, LeavesTheCheckpointAloneWhenAnotherReplacesIt) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    run(ranks, job(kSmall));
    const fs::path first = newest();
    const Files before = files_in(first);
    TrainingOptions more = job(kSmall);
    more.resume = true;
    more.data.push_back(folder_.write("d", random_lines({.seed = 4, .labels = 500})));
    run(ranks, more);
    EXPECT_NE(newest(), first);
    EXPECT_EQ(files_in(first), before);
    EXPECT_EQ(files_in(model_)["tree"], files_in(newest())["tree"]);
    fs::remove_all(model_);
    EXPECT_GT(verify_checkpoint(newest()), 0U);
    Checkpoints(checkpoints_).remove_all();
  }
}

// There is nothing to learn any more, and so no new checkpoint.
TEST_F(CheckpointModel, IsWrittenAgainWhereTheRunHadEnded) {
  for (const int ranks : {1, 2}) {
    run(ranks, job(kSmall));
    const Files before = files_in(model_);
    fs::remove_all(model_);
    TrainingOptions again = job(kSmall);
    again.resume = true;
    run(ranks, again);
    EXPECT_EQ(files_in(model_), before);
    EXPECT_FALSE(is_shared("tree", "tree"));
    Checkpoints(checkpoints_).remove_all();
  }
}

// Damages a part of the last checkpoint right after it was written.
class Damager : public Recorder {
 public:
  explicit Damager(int rank)  // whose part it is
      : name_("weights-0000" + std::to_string(rank)) {}
  void checkpointed(const CheckpointReport& report) override {
    const fs::path file = report.directory / name_;
    fs::resize_file(file, fs::file_size(file) - 1);
  }

 private:
  std::string name_;
};

TEST_F(CheckpointModel, IsWrittenFromMemoryWhereTheCheckpointCannotBeReadAgain) {
  const Files expected = files_from_memory(2, job(kSmall));
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    Damager damager(ranks - 1);
    results_on(ranks, job(kSmall), {.observer = &damager, .model = model_});
    EXPECT_EQ(files_in(model_), expected);
    EXPECT_THAT(damager.warnings, ::testing::Contains(HasSubstr("the last checkpoint cannot be read again")));
    fs::remove_all(model_);
  }
}

// Damages what a checkpoint holds as soon as it has its name, before anybody reads it back.
TEST_F(CheckpointModel, IsNotWrittenWhereTheCheckpointDoesNotReadBack) {
  for (const int ranks : {1, 2}) {
    for (const bool cut : {true, false}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, part " + (cut ? "cut" : "removed"));
      Staging staging{.wrap = [&](Communicator& inner) {
        return std::make_unique<Interposed>(inner, [&, rank = inner.rank()](std::uint64_t) {
          const std::vector<Checkpoint> written = Checkpoints(checkpoints_).list();
          if (rank != 0 || written.empty()) return;
          const fs::path part = written.back().directory / "weights-00000";
          if (!cut) fs::remove(part);
          if (cut && fs::file_size(part) > 10) fs::resize_file(part, 10);
        });
      }};
      for (const Ending& ending : train_on(ranks, job(kSmall), staging)) {
        EXPECT_EQ(ending.fault, Fault::kCannotWrite);
        EXPECT_THAT(ending.error, AllOf(HasSubstr("does not read back as it was written"), HasSubstr("weights-00000")));
      }
      fs::remove_all(checkpoints_);
    }
  }
}

TEST_F(CheckpointModel, IsNotWrittenFromADamagedPart) {
  for (const int bits : {kSmall, kLarge}) {
    run(2, job(bits));
    const Files old = files_in(model_);
    std::string part = files_in(newest())["weights-00001"];
    part.back() = static_cast<char>(part.back() ^ 1);
    std::ofstream(newest() / "weights-00001", std::ios::binary) << part;
    const Thrown thrown = thrown_by([&] { save_checkpoint_as_model(newest(), model_); });
    EXPECT_EQ(thrown.fault, Fault::kBadData);
    EXPECT_THAT(thrown.text, AllOf(HasSubstr("weights-00001"), HasSubstr("damaged")));
    EXPECT_EQ(files_in(model_), old);
    Checkpoints(checkpoints_).remove_all();
  }
}

}  // namespace
}  // namespace cpt
