#include "cpt/trainer.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "comm/agreement.h"
#include "comm/alone.h"
#include "comm/collectives.h"
#include "core/version.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/example_stream.h"
#include "data/shards.h"
#include "train/alone_loop.h"
#include "train/model_files.h"
#include "train/owned_loop.h"
#include "train/replicated_loop.h"
#include "train/tree_figures.h"

namespace cpt {

namespace {

bool reads_standard_input(const std::vector<Shard>& shards) {
  return std::any_of(shards.begin(), shards.end(), [](const Shard& shard) { return shard.path == "-"; });
}

void check_standard_input(const TrainingOptions& options, const std::vector<Shard>& data,
                          const std::vector<Shard>& test, int ranks) {
  const bool in_data = reads_standard_input(data);
  const bool in_test = reads_standard_input(test);
  if (!in_data && !in_test) return;
  if (ranks > 1) throw Error(Fault::kUsage, "standard input (-) can be read by one rank only");
  if (in_data && options.passes > 1)
    throw Error(Fault::kUsage, "standard input (-) cannot be read twice: use --passes 1");
  if (in_data && in_test) throw Error(Fault::kUsage, "standard input (-) cannot be both --data and --test");
}

// Everything that must be the same on all ranks, in words. `init`: the digest of the model to begin with; 0 for none.
std::string fingerprint(const TrainingOptions& options, std::uint64_t init, const std::vector<Shard>& data,
                        const std::vector<Shard>& test) {
  std::ostringstream text;
  text.precision(17);
  const ModelOptions& m = options.model;
  text << kVersion << ' ' << kCommit << '\n'
       << static_cast<int>(m.tree) << ' ' << m.alpha << ' ' << static_cast<int>(m.loss) << ' '
       << static_cast<int>(m.update) << ' ' << m.learning_rate << ' ' << m.clip << ' ' << m.bits << ' ' << m.seed << ' '
       << static_cast<int>(m.normalize);
  for (const std::string& pair : m.interactions) text << ' ' << pair;
  text << '\n'
       << init << ' ' << static_cast<int>(options.placement) << ' ' << options.test_frozen << ' '
       << static_cast<int>(options.format) << ' ' << static_cast<int>(options.multilabel) << ' ' << options.passes
       << ' ' << static_cast<int>(options.merge) << ' ' << options.epoch_fraction << ' ' << options.epoch_examples
       << ' ' << options.round_examples << ' ' << options.skip_bad_lines << ' '
       << options.most_bad_lines.value_or(~0ULL) << '\n';
  for (const Shard& shard : data) text << shard.path << ' ' << shard.bytes << '\n';
  for (const Shard& shard : test) text << "test " << shard.path << ' ' << shard.bytes << '\n';
  return text.str();
}

void compare_fingerprints(Communicator& comm, const std::string& mine) {
  const std::vector<std::uint64_t> all = all_gather_value(comm, hash_label(mine), "start: options");
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw AgreedError(Fault::kUsage,
                      rank_and_host(comm, static_cast<int>(r)) +
                          " runs another build, has other options or sees other shards or another model than " +
                          rank_and_host(comm, 0) + ": names and sizes must be the same everywhere");
  }
}

}  // namespace

class Training::Run {
 public:
  Run(const TrainingOptions& options, Communicator& comm) : options_(options), comm_(comm) {
    together(comm_, "start", [&] { prepare(); });
    compare_fingerprints(comm_, fingerprint(options_, init_digest_, data_, test_));
  }

  TrainingResult run(Observer& observer) {
    Progress progress(comm_, model_->learner(), observer, owned() ? Counting::kOnRank0 : Counting::kOnEachRank);
    Loops loops;
    together(comm_, "start", [&] { make_loops(progress, loops); });

    if (!data_.empty()) {
      progress.begin(Phase::kTrain);
      for (std::uint32_t number = 1; number <= options_.passes; ++number) {
        progress.begin_pass(number);
        summary_.train_error_lines += run_pass(data_, true, loops, progress);
      }
      summary_.train = progress.total();
      summary_.trained = true;
    }
    if (!test_.empty()) {
      progress.begin(Phase::kTest);
      summary_.test_error_lines = run_pass(test_, !options_.test_frozen, loops, progress);
      summary_.test = progress.total();
      summary_.tested = true;
    }
    finish(progress, loops);
    TrainingResult result{std::move(*model_), summary_, {}};
    if (loops.owned) result.owners.assign(loops.owned->owners().begin(), loops.owned->owners().end());
    return result;
  }

 private:
  // One of the last two on several ranks, none on one.
  struct Loops {
    std::optional<InOrder> in_order;
    std::optional<ReplicatedLoop> replicated;
    std::optional<OwnedLoop> owned;
  };

  bool owned() const { return comm_.size() > 1 && options_.placement == Placement::kOwned; }

  void make_loops(Progress& progress, Loops& loops) {
    Learner& learner = model_->learner();
    if (owned()) {
      loops.owned.emplace(options_, comm_, learner, progress);
      return;
    }
    loops.in_order.emplace(learner);
    if (comm_.size() > 1) loops.replicated.emplace(options_, comm_, learner, *loops.in_order, progress);
  }

  void prepare() {
    options_.validate();
    data_ = find_shards(options_.data);
    test_ = find_shards(options_.test);
    check_standard_input(options_, data_, test_, comm_.size());
    if (options_.init.empty()) {
      model_.emplace(options_.model);
    } else {
      take_up_model();
    }
  }

  void take_up_model() {
    const ModelHead head = read_model_head(options_.init);
    options_.model = head.options;
    init_digest_ = head.digest;
    const Owners owners = first_owners(comm_.size());
    model_.emplace(load_learner(options_.init, [&](Partition p) { return !owned() || owners[p] == comm_.rank(); }));
  }

  ReadOptions read_options() const {
    ReadOptions read;
    read.format = options_.format;
    read.multilabel = options_.multilabel;
    read.seed = options_.model.seed;
    read.interactions = options_.model.interactions;
    read.normalize = options_.model.normalize;
    read.skip_bad_lines = options_.skip_bad_lines;
    return read;
  }

  // Returns the bad lines skipped, on all ranks together.
  std::uint64_t run_pass(const std::vector<Shard>& shards, bool learning, Loops& loops, Progress& progress) {
    std::optional<Feed> feed;
    together(comm_, "open shards", [&] {
      const auto mine = assign_shards(shards, comm_.size())[static_cast<std::size_t>(comm_.rank())];
      feed.emplace(ExampleStream(shards, mine, read_options()));
    });
    std::uint64_t bad_lines = 0;
    if (loops.owned) {
      bad_lines = loops.owned->run(*feed, shards.size(), learning);
    } else if (loops.replicated) {
      bad_lines = loops.replicated->run(*feed, learning);
    } else {
      bad_lines = run_alone(options_, learning, *loops.in_order, *feed, progress);
      if (learning) progress.count_epoch();
    }
    progress.report_now();
    together(comm_, "report", [&] { progress.rethrow_failure(); });
    return bad_lines;
  }

  // What another rank owns was never touched here.
  WeightTable::Survey survey_own(const Loops& loops) const {
    const WeightTable& weights = model_->learner().weights();
    if (!loops.owned) return weights.survey();
    WeightTable::Survey survey;
    for (Partition p = 0; p < kPartitions; ++p) {
      if (loops.owned->owners()[p] == comm_.rank()) survey.add(weights.survey(p));
    }
    return survey;
  }

  void finish(const Progress& progress, const Loops& loops) {
    const Learner& learner = model_->learner();
    summary_.ranks = comm_.size();
    summary_.seconds = progress.seconds();
    summary_.rounds = progress.rounds();
    summary_.epochs = progress.epochs();
    summary_.tree = measure_tree(learner);
    const WeightTable::Survey survey = survey_own(loops);
    summary_.weight_bytes = learner.weights().bytes();
    summary_.lines_used = survey.used;
    summary_.weight_digest = survey.digest;
    together(comm_, "end", [&] {
      if (!survey.finite) throw Error(Fault::kFailed, "the weights are not finite: use a lower --learning-rate");
    });
    if (owned()) {
      std::uint64_t sums[] = {survey.used, survey.digest};
      sum_in_rank_order(comm_, sums, "end: weights");
      summary_.lines_used = sums[0];
      summary_.weight_digest = sums[1];
      summary_.partitions_moved = loops.owned->partitions_moved();
      summary_.balance = loops.owned->balance();
    } else {
      compare_replicas(survey.digest);
    }
    std::uint64_t bytes = comm_.bytes_sent();
    double seconds = comm_.seconds_waited();
    sum_in_rank_order(comm_, {&bytes, 1}, "end: bytes");
    sum_in_rank_order(comm_, {&seconds, 1}, "end: seconds");
    summary_.bytes_sent = bytes;
    summary_.communication_seconds = seconds / comm_.size();
  }

  void compare_replicas(std::uint64_t digest) {
    const std::vector<std::uint64_t> all = all_gather_value(comm_, digest, "end: digests");
    for (std::size_t r = 1; r < all.size(); ++r) {
      if (all[r] == all[0]) continue;
      throw AgreedError(Fault::kFailed, "the weights of rank 0 and " + rank_and_host(comm_, static_cast<int>(r)) +
                                            " differ at the end of the run");
    }
  }

  TrainingOptions options_;  // with those of the model
  Communicator& comm_;
  std::vector<Shard> data_;
  std::vector<Shard> test_;
  std::optional<Model> model_;
  std::uint64_t init_digest_ = 0;
  Summary summary_;
};

void TrainingOptions::validate() const {
  model.validate();
  if (data.empty() && (init.empty() || test.empty())) {
    throw Error(Fault::kUsage,
                "--data is missing: name files, directories or globs; or a finished model and what to test it on: "
                "--init MODEL --test PATH");
  }
  if (passes == 0) throw Error(Fault::kUsage, "--passes is 0: it must be at least 1");
  if (!(epoch_fraction > 0 && epoch_fraction <= 1)) {
    throw Error(Fault::kUsage, "--epoch-fraction must be above 0 and at most 1");
  }
}

void save_model(const TrainingResult& result, Communicator& comm, const std::filesystem::path& directory) {
  if (result.owners.empty()) {
    together(comm, "write the model", [&] {
      if (comm.rank() == 0) result.model.save(directory);
    });
    return;
  }
  Owners owners;
  std::copy_n(result.owners.begin(), owners.size(), owners.begin());
  save_learner(result.model.learner(), comm, owners, directory);
}

TrainingResult train(const TrainingOptions& options, Observer& observer) {
  Alone alone;
  return train(options, alone, observer);
}

TrainingResult train(const TrainingOptions& options, Communicator& comm, Observer& observer) {
  return Training(options, comm).run(observer);
}

Training::Training(const TrainingOptions& options, Communicator& comm) : run_(std::make_unique<Run>(options, comm)) {}
Training::~Training() = default;

TrainingResult Training::run(Observer& observer) { return run_->run(observer); }

}  // namespace cpt
