// One rank's error is everyone's decision: all ranks stop for the same reason, which says who, where and what; none
// hangs.
#include "train/errors.h"

#include <limits>

#include "comm/agreement.h"
#include "comm/faulty.h"
#include "data/fifo.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

INSTANTIATE_TEST_SUITE_P(, Errors,
                         ::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                         name_of_placement);

TEST_P(Errors, AShardThatOneRankDoesNotSeeStopsAll) {
  Staging staging;
  staging.options_of = [&](int rank, TrainingOptions& options) {
    if (rank == 1) options.data.push_back((folder_ / "absent").string());
  };
  EXPECT_THAT(agreed_error(Fault::kNoInput, staging),
              AllOf(StartsWith("rank 1 on "), HasSubstr((folder_ / "absent").string())));
}

TEST_P(Errors, AShardThatVanishesStopsAll) {
  for (std::size_t shard = 0; shard < kRanks; ++shard) {
    const std::string reader = reader_of(shard);
    Staging staging;
    staging.wrap = [&](Communicator& inner) {
      // The eighth collective comes before shards are opened, and after they were found and recognized.
      return std::make_unique<Interposed>(inner, [&, rank = inner.rank()](std::uint64_t call) {
        if (call == 7 && rank == 0) fs::remove(options_.data[shard]);
      });
    };
    EXPECT_THAT(agreed_error(Fault::kNoInput, staging), AllOf(StartsWith(reader), HasSubstr(options_.data[shard])));
    folder_.write(fs::path(options_.data[shard]).filename(), random_lines({.seed = shard + 1, .examples = 200}));
  }
}

TEST_P(Errors, OtherOptionsOrShardsOnOneRankStopAll) {
  const std::vector<std::pair<std::string, std::function<void(TrainingOptions&)>>> differences = {
      {"other shards of --data", [](TrainingOptions& options) { options.data.pop_back(); }},
      {"another --learning-rate", [](TrainingOptions& options) { options.model.learning_rate *= 1 + 1e-12; }},
      {"another --seed", [](TrainingOptions& options) { options.model.seed = 2; }},
      {"another --merge", [](TrainingOptions& options) { options.merge = MergeRule::kAverage; }},
      {"another --placement",
       [](TrainingOptions& options) {
         const bool partitioned = options.placement == Placement::kPartitioned;
         options.placement = partitioned ? Placement::kReplicated : Placement::kPartitioned;
       }},
      {"another --tree",
       [](TrainingOptions& options) { options.model.tree = TreeKind::kGiven, options.given_tree = "file:other"; }},
      {"another --round-examples", [](TrainingOptions& options) { options.round_examples = 7; }},
      {"another --passes and another --clip",
       [](TrainingOptions& options) { options.passes = 2, options.model.clip = 0.01; }},
      {"other shards of --test", [](TrainingOptions& options) { options.test = {options.data[0]}; }},
      {"another --resume", [](TrainingOptions& options) { options.resume = true; }},
  };
  for (const auto& [another, differ] : differences) {
    Staging staging;
    staging.options_of = [&, &differ = differ](int rank, TrainingOptions& options) {
      if (rank == 2) differ(options);
    };
    EXPECT_THAT(agreed_error(Fault::kUsage, staging),
                AllOf(StartsWith("rank 2 on "), HasSubstr(" has " + another + " than rank 0 on ")));
  }
}

TEST_P(Errors, StandardInputIsForOneRank) {
  options_.data = {"-"};
  EXPECT_THAT(agreed_error(Fault::kUsage), HasSubstr("one rank only"));
}

// No step leads to a weight that no float holds, but its product with a value may be such.
const std::string kDiverging =
    "a 1e12 | foo\nb 1e12 | boom\na 1e12 | foo\nb 1e12 | boom\na | foo:1e30\nb | boom:1e30\n";

// What all ranks throw if a shard makes the weights diverge.
class DivergingWeights : public Errors {
 protected:
  std::string error_at_intervals_of(std::uint64_t examples) {
    options_.model.loss = Loss::kSquared;
    options_.model.update = Update::kSgd;
    options_.model.learning_rate = 1e12;
    options_.sync_examples = examples;
    options_.data[2] = folder_.write("heavy", kDiverging + random_lines({.examples = 200}));
    return agreed_error(Fault::kFailed);
  }
};
INSTANTIATE_TEST_SUITE_P(, DivergingWeights,
                         ::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                         name_of_placement);

// The rank that learned it finds it, or the one that keeps the ledger.
TEST_P(DivergingWeights, OfOneRankStopAll) {
  const std::string finder = GetParam() == Placement::kReplicated ? reader_of(2) : "rank 0 on ";
  EXPECT_THAT(error_at_intervals_of(1'000'000),
              AllOf(StartsWith(finder), HasSubstr("no longer finite"), HasSubstr("--learning-rate")));
}

TEST_P(DivergingWeights, BetweenMergesStopAll) {
  EXPECT_THAT(error_at_intervals_of(1),
              AllOf(StartsWith("rank "), HasSubstr("no longer finite"), HasSubstr("--learning-rate")));
}

class ErrorsOfReplicas : public DivergingWeights {};
INSTANTIATE_TEST_SUITE_P(, ErrorsOfReplicas, ::testing::Values(Placement::kReplicated), name_of_placement);

// A merge of weights that a failed rank did not finish would hide the cause.
TEST_P(ErrorsOfReplicas, WeightsThatDivergeInTheFirstRoundAreNotMerged) {
  options_.round_examples = 60;
  error_at_intervals_of(1);
  run_ranks(kRanks, [this](Communicator& comm) {
    Recorder recorder;
    EXPECT_THROW(Training(options_, comm).run(recorder), AgreedError);
    EXPECT_FALSE(comm.traffic().contains("merge: rows"));
  });
}

// Spoils what its rank sends in the first exchange, which are proposals of labels.
class Garbler : public Interposed {
 public:
  explicit Garbler(Communicator& inner) : Interposed(inner, nullptr), inner_(inner) {}

 protected:
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    if (spoiled_.empty() && !outgoing[0].empty()) {
      spoiled_.assign(outgoing[0].size(), std::byte{0xff});
      outgoing[0] = spoiled_;
    }
    return inner_.start_exchange(std::move(outgoing), std::move(incoming));
  }

 private:
  Communicator& inner_;
  std::vector<std::byte> spoiled_;
};

TEST_P(ErrorsOfReplicas, ALabelThatRank0CannotInsertStopsAll) {
  const Staging staging{.wrap = [](Communicator& inner) -> std::unique_ptr<Communicator> {
    return inner.rank() == 1 ? std::make_unique<Garbler>(inner) : nullptr;
  }};
  EXPECT_THAT(agreed_error(Fault::kFailed, staging),
              AllOf(StartsWith("rank 0 on "), HasSubstr("a message of another rank cannot be decoded")));
}

class Grumpy : public Recorder {
 public:
  explicit Grumpy(std::size_t patience) : patience_(patience) {}
  void report(const Report& report) override {
    Recorder::report(report);
    if (reports.size() > patience_) throw Error(Fault::kCannotWrite, "the disk is full");
  }

 private:
  std::size_t patience_;
};

TEST_P(Errors, AnObserverThatThrowsStopsAll) {
  Recorder patient;
  train_on(kRanks, options_, {.observer = &patient});
  ASSERT_GT(patient.reports.size(), 4U);
  for (std::size_t patience = 0; patience < patient.reports.size(); ++patience) {
    Grumpy grumpy(patience);
    const std::string error = agreed_error(Fault::kCannotWrite, {.observer = &grumpy});
    EXPECT_THAT(error, AllOf(StartsWith("rank 0 on "), HasSubstr("the disk is full")));
    EXPECT_EQ(grumpy.reports.size(), patience + 1);  // it is left alone from then on
  }
}

class NoPlaceForCheckpoints : public Recorder {
 public:
  void checkpointed(const CheckpointReport&) override { throw Error(Fault::kCannotWrite, "the disk is full"); }
};

TEST_P(Errors, AnObserverThatThrowsAtTheLastCheckpointStopsAll) {
  options_.checkpoints.directory = folder_ / "checkpoints";
  NoPlaceForCheckpoints observer;
  EXPECT_THAT(agreed_error(Fault::kCannotWrite, {.observer = &observer, .model = folder_ / "model"}),
              AllOf(StartsWith("rank 0 on "), HasSubstr("the disk is full")));
  EXPECT_TRUE(fs::exists(folder_ / "model"));
  EXPECT_EQ(train_on(1, options_, {.observer = &observer})[0].fault, Fault::kCannotWrite);
}

// How many collectives each rank takes part in before it ends.
class CallCounter {
 public:
  Staging staging(Observer* observer = nullptr) {
    return {.observer = observer, .wrap = [this](Communicator& inner) {
              return std::make_unique<Interposed>(
                  inner, inner.rank() == 0 ? BeforeCall([this](std::uint64_t call) { calls_ = call; }) : nullptr);
            }};
  }
  std::uint64_t calls() const { return calls_; }

 private:
  std::uint64_t calls_ = 0;
};

TEST_P(Errors, StopAllAtOnceAndNotAtTheEndOfThePass) {
  options_.round_examples = 6;
  CallCounter whole;
  train_on(kRanks, options_, whole.staging());

  CallCounter by_observer;
  Grumpy grumpy(0);
  agreed_error(Fault::kCannotWrite, by_observer.staging(&grumpy));
  EXPECT_LT(by_observer.calls(), whole.calls() / 4);

  options_.data[1] = folder_.write("rotten", "bad\n" + random_lines({.examples = 200}));
  options_.format = Format::kVw;
  CallCounter by_bad_line;
  agreed_error(Fault::kBadData, by_bad_line.staging());
  EXPECT_LT(by_bad_line.calls(), whole.calls() / 4);
}

// A rank that dies in the middle of anything: the others' calls fail, none waits for ever.
class DyingRank : public ::testing::TestWithParam<std::tuple<Placement, int>> {
 protected:
  DyingRank() {
    options_.placement = std::get<0>(GetParam());
    options_.passes = 2;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      options_.data.push_back(
          folder_.write("shard" + std::to_string(seed), random_lines({.seed = seed, .examples = 20, .labels = 8})));
    }
    options_.test = {folder_.write("test", random_lines({.seed = 4, .examples = 10}))};
    options_.sync_examples = 20;
    options_.round_examples = 15;
  }
  int ranks() const { return std::get<1>(GetParam()); }

  Folder folder_;
  TrainingOptions options_ = small_job();
};

INSTANTIATE_TEST_SUITE_P(
    , DyingRank,
    ::testing::Combine(::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                       ::testing::Values(2, 3)),
    [](const auto& test) {
      return name_of_placement({std::get<0>(test.param), 0}) + "Of" + std::to_string(std::get<1>(test.param));
    });

TEST_P(DyingRank, LetsNobodyHangWheneverItDies) {
  CallCounter whole;
  results_on(ranks(), options_, whole.staging());
  ASSERT_GT(whole.calls(), 40U);
  for (int rank = 0; rank < ranks(); ++rank) {
    for (std::uint64_t call = 0; call <= whole.calls(); ++call) {
      SCOPED_TRACE("rank " + std::to_string(rank) + ", call " + std::to_string(call));
      Staging staging;
      staging.wrap = [&](Communicator& inner) {
        return std::make_unique<testing::Faulty>(inner, rank, call, testing::throw_error);
      };
      const std::vector<Ending> endings = train_on(ranks(), options_, staging);
      EXPECT_EQ(endings[static_cast<std::size_t>(rank)].error, "broken on purpose");
      if (call == whole.calls()) continue;  // the last one; others may not need it
      for (const Ending& ending : endings) EXPECT_FALSE(ending.result);
    }
  }
}

// On one rank, messages are lost once: while it computes, and not while it waits.
class LosesMessages : public Interposed {
 public:
  LosesMessages(Communicator& inner, int rank) : Interposed(inner, {}), is_lost_(inner.rank() != rank) {}

  void advance() override {
    if (!std::exchange(waits_, false) && !std::exchange(is_lost_, true)) throw Error(Fault::kFailed, "lost on purpose");
    Interposed::advance();
  }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    return watched(Interposed::begin_all_gather(mine, all));
  }
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override {
    return watched(Interposed::begin_broadcast(data, root));
  }
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    return watched(Interposed::begin_exchange(std::move(outgoing), std::move(incoming)));
  }
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming) override {
    return watched(Interposed::begin_delivery(std::move(outgoing), incoming));
  }

 private:
  class Watched : public Operation {
   public:
    Watched(std::unique_ptr<Operation> inner, bool& waits) : inner_(std::move(inner)), waits_(waits) {}
    bool done() override {
      waits_ = true;
      return inner_->done();
    }

   private:
    std::unique_ptr<Operation> inner_;
    bool& waits_;
  };

  std::unique_ptr<Operation> watched(std::unique_ptr<Operation> operation) {
    return std::make_unique<Watched>(std::move(operation), waits_);
  }

  bool waits_ = false;
  bool is_lost_;
};

// Ranks agree on the failure of one of them; without messages they cannot.
TEST(LostMessages, EndTheRankAtOnce) {
  Folder folder;
  TrainingOptions options = small_job();
  options.placement = Placement::kPartitioned;
  options.round_examples = 100000;
  options.model.rarity = false;  // a renewal would end a round
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    options.data.push_back(
        folder.write("shard" + std::to_string(seed), random_lines({.seed = seed, .examples = 4000, .labels = 300})));
  }
  for (const std::size_t rank : {0U, 1U}) {
    Staging staging;
    staging.wrap = [&](Communicator& inner) { return std::make_unique<LosesMessages>(inner, static_cast<int>(rank)); };
    const std::vector<Ending> endings = train_on(2, options, staging);
    EXPECT_EQ(endings[rank].error, "lost on purpose");
    EXPECT_FALSE(endings[rank].agreed);
    EXPECT_FALSE(endings[1 - rank].result);
  }
}

TEST(ErrorsAlone, APipeThatWouldBeReadTwiceIsNamed) {
  const Folder folder;
  const Fifo pipe(folder / "pipe");
  fs::create_symlink("pipe", folder / "link");
  TrainingOptions options = small_job();
  options.data = {pipe.path()};
  options.passes = 2;
  EXPECT_EQ(train_on(1, options)[0].error, pipe.path() + " cannot be read twice, as files can: use --passes 1");
  EXPECT_EQ(train_on(1, options)[0].fault, Fault::kUsage);
  options.passes = 1;
  options.test = {(folder / "link").string()};
  EXPECT_EQ(train_on(1, options)[0].error, pipe.path() + " cannot be read twice: it cannot be both --data and --test");
}

// The rank that waits for a pipe holds up all others.
TEST_P(Errors, ARequestToStopEndsTheWaitForASilentPipe) {
  const Fifo pipe(folder_ / "pipe");
  options_.data[1] = pipe.path();
  options_.checkpoints.directory = folder_ / "checkpoints";
  options_.checkpoints.requested = [] { return Request::kStop; };
  EXPECT_THAT(
      agreed_error(Fault::kFailed),
      HasSubstr("stopped on request while it waited for input, and nothing is kept: a pipe cannot be read again"));
}

TEST(ErrorsAlone, ARequestToStopEndsTheWaitForASilentPipe) {
  const Folder folder;
  Fifo pipe(folder / "pipe");
  pipe.write(random_lines({.examples = 1100}));
  TrainingOptions options = small_job();
  options.data = {pipe.path()};
  options.checkpoints.directory = folder / "checkpoints";
  // The reader takes 1024 examples at a time, of which there are eleven reports. It is asked once behind them, and then
  // while it waits.
  Recorder recorder;
  int questions = 0;
  options.checkpoints.requested = [&] {
    return recorder.reports.size() == 11 && ++questions > 1 ? Request::kStop : Request::kNone;
  };
  Staging staging;
  staging.observer = &recorder;
  const Ending ending = std::move(train_on(1, options, staging)[0]);
  EXPECT_EQ(ending.fault, Fault::kFailed);
  EXPECT_EQ(ending.error, "stopped on request after 1024 examples, and nothing is kept: a pipe cannot be read again");
}

TEST(ErrorsAlone, OptionsAreChecked) {
  const Folder folder;
  const std::string shard = folder.write("shard", "a | x\n");
  const std::vector<std::function<void(TrainingOptions&)>> mistakes = {
      [](TrainingOptions& options) { options.data.clear(); },
      [](TrainingOptions& options) { options.passes = 0; },
      [](TrainingOptions& options) { options.sync_fraction = -0.5; },
      [](TrainingOptions& options) { options.sync_fraction = 1.5; },
      [](TrainingOptions& options) { options.sync_fraction = std::numeric_limits<double>::quiet_NaN(); },
      [](TrainingOptions& options) { options.model.bits = 5; },
      [](TrainingOptions& options) { options.data.emplace_back("-"), options.passes = 2; },
      [](TrainingOptions& options) { options.data = options.test = {"-"}; },
  };
  for (const auto& mistake : mistakes) {
    TrainingOptions options = small_job();
    options.data = {shard};
    mistake(options);
    EXPECT_EQ(train_on(1, options)[0].fault, Fault::kUsage);
  }
}

}  // namespace
}  // namespace cpt
