#include "train/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "api/model_files.h"
#include "api/tree_figures.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "comm/stall_timeout_extension.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/pipeline/example_stream.h"
#include "train/checkpoint/checkpointer.h"
#include "train/checkpoint/gathered_model.h"
#include "train/host/cores.h"
#include "train/host/memory.h"
#include "train/input/split_files.h"
#include "train/local/local_loop.h"
#include "train/partitioned/partitioned_loop.h"
#include "train/progress/traffic_sum.h"
#include "train/replicated/replicated_loop.h"
#include "train/setup/known_labels.h"
#include "train/setup/run_setup.h"

namespace cpt {

class Training::Run : private Keepsake {
 public:
  Run(const TrainingOptions& options, Communicator& comm)
      : comm_(comm),
        start_(prepare(options, comm, free_memory())),
        options_(start_.options),
        plan_(*start_.plan),
        sync_schedule_(options_.sync_fraction, options_.sync_examples,
                       start_.state ? start_.state->sync_points : SyncCounts{}) {}

  const TrainingOptions& options() const { return options_; }
  const std::optional<Resumption>& resumption() const { return start_.resumption; }

  TrainingResult run(Observer& observer, const std::filesystem::path& model) {
    Progress progress(comm_, start_.model->learner(), observer, owned() ? Counting::kOnRank0 : Counting::kOnEachRank);
    go_on(progress);
    Checkpointer checkpointer(options_.checkpoints, comm_, start_.model->learner(), plan_, progress, *this);
    run_on_all(comm_, "start", [&] { make_loops(progress, checkpointer); });
    for (const std::string& warning : start_.warnings) {
      if (comm_.rank() == 0) progress.warn(warning);
    }
    bool goes_on = false;
    while (plan_.begin_pass()) {
      if (!goes_on) tell_idle_ranks(progress);
      goes_on = true;
      run_leg(progress, checkpointer);
      if (!plan_.finished()) checkpointer.keep();
    }
    finish(progress);
    bool kept = false;
    if (goes_on) {
      kept = checkpointer.keep();
    } else if (start_.resumption && start_.resumption->refused.empty()) {
      checkpointer.prune();  // what ended the run may have come before that; C8: the newest was read to its end
    }
    summary_.checkpoints = checkpointer.written();
    summary_.checkpoint_seconds = checkpointer.seconds();
    summary_.memory = memory_use();
    TrainingResult result{std::move(*start_.model), summary_, {}};
    if (partitioned_) result.owners.assign(partitioned_->owners().begin(), partitioned_->owners().end());
    if (comm_.rank() == 0 && summary_.tree.labels == 0) {
      progress.warn("there is no example in the data: the model knows no label");
    }
    if (!model.empty()) write_model(result, kept ? &checkpointer : nullptr, model, progress);
    run_on_all(comm_, "end: report", [&] { progress.rethrow_failure(); });
    return result;
  }

 private:
  // Nothing has been learned since the checkpoint, if there is one.
  void write_model(const TrainingResult& result, const Checkpointer* kept, const std::filesystem::path& directory,
                   Progress& progress) {
    const StallTimeoutExtension extension(comm_, timeout_for_disks(result.model.learner()));
    if (kept == nullptr) return save_model(result, comm_, directory);
    try {
      return run_on_all(comm_, "write the model", [&] {
        if (comm_.rank() == 0) save_checkpoint_as_model(kept->latest(), directory, cores_of_rank(comm_));
      });
    } catch (const Error& error) {  // alone it is no AgreedError
      if (error.fault() != Fault::kBadData && error.fault() != Fault::kNoInput) throw;
      if (comm_.rank() == 0) progress.warn(std::string("the last checkpoint cannot be read again: ") + error.what());
    }
    save_model(result, comm_, directory);  // what the checkpoint was written from is still in memory
  }

  bool owned() const { return is_partitioned(options_, comm_); }

  void make_loops(Progress& progress, SafePoint& safe_point) {
    Learner& learner = start_.model->learner();
    if (owned()) {
      partitioned_.emplace(options_, comm_, learner, progress, sync_schedule_, safe_point);
      return;
    }
    in_order_.emplace(learner);
    if (comm_.size() > 1)
      replicated_.emplace(options_, comm_, learner, *in_order_, progress, sync_schedule_, safe_point);
  }

  // Takes up the figures of the checkpoint. What follows on a run that was finished is a run of its own.
  void go_on(Progress& progress) {
    if (!start_.state) return;
    for (const std::string& reason : start_.resumption->refused) {
      if (comm_.rank() == 0) progress.warn("a checkpoint cannot be used: " + reason);
    }
    if (start_.state->finished && !plan_.finished()) return;
    progress.go_on(start_.state->progress);
    summary_ = start_.state->summary;
    counting_ = true;
  }

  RunState run_state() const override {
    RunState state;
    state.options = options_;
    state.init_digest = start_.init_digest;
    state.sync_points = sync_schedule_.counts();
    state.summary = summary_;
    state.finished = plan_.finished();
    return state;
  }

  Owners writers() const override { return partitioned_ ? partitioned_->owners() : first_owners(comm_.size()); }

  ReadOptions read_options(bool learning) const {
    ReadOptions read = cpt::read_options(options_);
    if (learning && options_.model.method == Method::kPecoc) {
      read.knows_label = [&labels = start_.model->learner().labels()](std::string_view label) {
        return labels.find(label, hash_label(label)) != kNoLabel;
      };
    }
    return read;
  }

  void run_leg(Progress& progress, Checkpointer& checkpointer) {
    const ShardPass shard_pass = plan_.shard_pass();
    const bool begins_phase = !counting_ || progress.phase() != shard_pass.phase;
    if (begins_phase) progress.begin(shard_pass.phase);
    if (plan_.examples() == 0) plan_.set_examples_before(progress.total().examples);
    counting_ = true;
    progress.begin_pass(shard_pass.pass);
    const std::uint64_t bad_lines = traverse(shard_pass, progress, checkpointer);
    progress.report_now();
    run_on_all(comm_, "report", [&] { progress.rethrow_failure(); });
    plan_.end_pass();
    if (shard_pass.phase == Phase::kTrain) {
      summary_.train_error_lines += bad_lines;
      summary_.train = progress.total();
      summary_.trained = true;
    } else {
      summary_.test_error_lines = bad_lines;
      summary_.test = progress.total();
      summary_.tested = true;
    }
  }

  // Returns the bad lines skipped, on all ranks together.
  std::uint64_t traverse(const ShardPass& shard_pass, Progress& progress, Checkpointer& checkpointer) {
    const bool learning = shard_pass.phase == Phase::kTrain || !options_.test_frozen;
    const std::vector<std::uint32_t> mine = my_shards(shard_pass);
    const std::vector<Shard> shards = plan_.shards(shard_pass.phase);
    std::optional<BatchReader> reader;
    open_shards(shard_pass, shards, mine, read_options(learning), reader);
    checkpointer.set_my_shards(mine);
    if (comm_.size() > 1) reader->call_while_waiting([&] { checkpointer.stop_waiting_in_vain(); });
    if (partitioned_) return partitioned_->run(*reader, shard_pass.shards.size(), learning);
    if (replicated_) return replicated_->run(*reader, learning);
    const std::uint64_t bad_lines = run_alone(options_, learning, *in_order_, *reader, progress, checkpointer);
    if (learning) progress.count_sync();
    return bad_lines;
  }

  // Those of this rank. A resumed run has skipped to its cursors then, on all ranks.
  void open_shards(const ShardPass& shard_pass, const std::vector<Shard>& shards,
                   const std::vector<std::uint32_t>& mine, ReadOptions options, std::optional<BatchReader>& reader) {
    const auto is_inside = [&](std::uint32_t number) { return plan_.cursor(number).bytes > 0; };
    const bool resumed = std::ranges::any_of(shard_pass.shards, is_inside);
    const bool skips =
        resumed && comm_.size() > 1;  // alone, the reader skips, and requests to stop are heard meanwhile
    std::optional<ExampleStream> stream;
    run_on_all(comm_, "open shards", [&] {
      std::vector<Cursor> cursors;
      for (const std::uint32_t number : mine) cursors.push_back(plan_.cursor(number));
      stream.emplace(shards, mine, std::move(options), cursors);
      if (!skips) reader.emplace(std::move(*stream));
    });
    if (!skips) return;
    skip_to_cursors(*stream, comm_);
    run_on_all(comm_, "open shards", [&] { reader.emplace(std::move(*stream)); });
  }

  // The shards of the shard_pass.
  std::vector<Shard> to_read() const {
    const std::vector<Shard> known = plan_.shards(plan_.shard_pass().phase);
    std::vector<Shard> shards;
    for (const std::uint32_t number : plan_.shard_pass().shards) shards.push_back(known[number]);
    return shards;
  }

  // A run that goes on keeps its shards as they are.
  void tell_idle_ranks(Progress& progress) {
    if (comm_.rank() != 0) return;
    const std::string warning = warning_of_idle_ranks(to_read(), comm_.size(), !start_.resumption);
    if (!warning.empty()) progress.warn(warning);
  }

  // The numbers of the shard_pass's shards that this rank reads.
  std::vector<std::uint32_t> my_shards(const ShardPass& shard_pass) const {
    std::vector<std::uint32_t> mine = assign_shards(to_read(), comm_.size())[static_cast<std::size_t>(comm_.rank())];
    for (std::uint32_t& index : mine) index = shard_pass.shards[index];
    return mine;
  }

  // What another rank owns was never touched here.
  WeightTable::Survey survey_own() const {
    const WeightTable& weights = start_.model->learner().weights();
    if (!partitioned_) return weights.survey();
    WeightTable::Survey survey;
    for (Partition p = 0; p < kPartitions; ++p) {
      if (partitioned_->owners()[p] == comm_.rank()) survey.add(weights.survey(p));
    }
    return survey;
  }

  MemoryUse memory_use() const {
    const Learner& learner = start_.model->learner();
    MemoryUse use{comm_.rank(), peak_memory(), learner.weights().bytes(), 0};
    use.structure_bytes = learner.tree().bytes() + learner.labels().bytes() + learner.frequencies().bytes();
    if (!partitioned_) return use;
    use.structure_bytes += partitioned_->structure_bytes();
    use.table_bytes = 0;
    for (Partition p = 0; p < kPartitions; ++p) {
      if (partitioned_->owners()[p] == comm_.rank()) use.table_bytes += learner.weights().region(p).rows * sizeof(Row);
    }
    return use;
  }

  void finish(const Progress& progress) {
    const Learner& learner = start_.model->learner();
    summary_.ranks = comm_.size();
    summary_.partitioned = owned();
    summary_.seconds = progress.seconds();
    summary_.rounds = progress.rounds();
    summary_.sync_points = progress.sync_points();
    summary_.tree = measure_tree(learner);
    const WeightTable::Survey survey = survey_own();
    summary_.weight_bytes = learner.weights().bytes();
    summary_.rows_used = survey.used;
    summary_.weight_digest = survey.digest + learner.frequencies().digest();
    run_on_all(comm_, "end", [&] {
      if (!survey.finite) throw_diverged();
    });
    if (owned()) {
      std::uint64_t sums[] = {survey.used, survey.digest};
      sum_in_rank_order(comm_, sums, "end: weights");
      summary_.rows_used = sums[0];
      summary_.weight_digest = sums[1];
      summary_.partitions_moved = partitioned_->partitions_moved();
      summary_.balance = partitioned_->latest_balance();
    } else {
      compare_replicas(summary_.weight_digest);
    }
    summary_.traffic = traffic_of_all(comm_);
    for (const auto& [call, part] : summary_.traffic) {
      summary_.bytes_sent += part.bytes;
      summary_.communication_seconds += part.seconds;
    }
  }

  void compare_replicas(std::uint64_t digest) {
    if (const auto difference = find_difference(comm_, digest, "end: digests")) {
      throw AgreedError(Fault::kFailed,
                        "the weights of rank 0 and " + difference->rank + " differ at the end of the run");
    }
  }

  Communicator& comm_;
  RunSetup start_;
  const TrainingOptions& options_;  // of start_, as is plan_
  TraversalPlan& plan_;
  SyncSchedule sync_schedule_;
  // One of the last two on several ranks, none on one.
  std::optional<InOrder> in_order_;
  std::optional<ReplicatedLoop> replicated_;
  std::optional<PartitionedLoop> partitioned_;
  bool counting_ = false;  // the figures of a phase are under way
  Summary summary_;
};

void save_model(const TrainingResult& result, Communicator& comm, const std::filesystem::path& directory) {
  if (result.owners.empty()) {
    run_on_all(comm, "write the model", [&] {
      if (comm.rank() == 0) save_learner(result.model.learner(), directory, cores_of_rank(comm));
    });
    return;
  }
  Owners owners;
  std::copy_n(result.owners.begin(), owners.size(), owners.begin());
  save_learner(result.model.learner(), comm, owners, directory);
}

TrainingResult train(const TrainingOptions& options, Communicator& comm, Observer& observer) {
  return Training(options, comm).run(observer);
}

Training::Training(const TrainingOptions& options, Communicator& comm) : run_(std::make_unique<Run>(options, comm)) {}
Training::~Training() = default;

const TrainingOptions& Training::options() const { return run_->options(); }
const std::optional<Resumption>& Training::resumption() const { return run_->resumption(); }
TrainingResult Training::run(Observer& observer, const std::filesystem::path& model) {
  return run_->run(observer, model);
}

}  // namespace cpt
