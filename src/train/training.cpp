#include "train/training.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "api/model_files.h"
#include "api/tree_figures.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/pipeline/example_stream.h"
#include "store/fs/durable_file.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/checkpoint/safe_point.h"
#include "train/host/host.h"
#include "train/host/pages_ahead.h"
#include "train/input/read_options.h"
#include "train/input/split_files.h"
#include "train/local/local_loop.h"
#include "train/messages/tree_change_messages.h"
#include "train/partitioned/partitioned_loop.h"
#include "train/progress/progress.h"
#include "train/progress/validations.h"
#include "train/replicated/replicated_loop.h"
#include "train/setup/run_setup.h"

namespace cpt {

class Training::Run {
 public:
  Run(const TrainingOptions& options, Communicator& comm)
      : comm_(comm),
        free_(free_memory()),
        setup_(prepare_run(options, comm, free_)),
        options_(setup_.options),
        plan_(*setup_.plan),
        learner_(*setup_.learner),
        sync_schedule_(sync_rule(options_, merges(), comm_.size()),
                       setup_.state ? setup_.state->sync_points : SyncCounts{}),
        renewals_(comm, learner_.feature_counts()) {}

  const TrainingOptions& options() const { return options_; }
  const std::optional<Resumption>& resumption() const { return setup_.resumption; }
  RunPlan plan() const { return plan_run(setup_, comm_, free_); }

  TrainingResult run(Observer& observer, const std::filesystem::path& model) {
    model_ = model;
    if (model.empty() && options_.validation.keep_best)
      throw Error(Fault::kUsage, "--keep-best needs a directory to write models to");
    Progress progress(comm_, learner_, observer, options_.progress_every);
    restore_figures(progress);
    SafePoint safe_point(
        options_.checkpoints, comm_, learner_, plan_, progress, [&] { return snapshot(); }, setup_.unusable);
    run_on_all(comm_, "start", [&] {
      create_directories(safe_point);
      make_loops(progress, safe_point);
    });
    if (comm_.rank() == 0) {
      for (const std::string& warning : setup_.warnings) progress.warn(warning);
    }
    const bool traversed = traverse_shards(progress, safe_point);
    pages_ahead_.reset();
    summary_.had_nothing_to_do = setup_.resumption && !traversed;
    measure(progress);
    const bool saved = end_with_checkpoint(traversed, safe_point);
    if (!model.empty() && !(keeps_best() && has_best(progress))) {
      write_model(saved ? &safe_point : nullptr, progress);
    }
    run_on_all(comm_, "end: report", [&] { progress.rethrow_failure(); });
    return {{std::move(setup_.learner), owners()}, summary_};
  }

 private:
  // Whether ranks merge rows at sync points.
  bool merges() const {
    if (partitioned()) return roots_of(options_) == Roots::kOnEveryRank;
    return comm_.size() > 1 && options_.model.method != Method::kTable;
  }

  bool partitioned() const { return is_partitioned(options_, comm_); }

  bool owns(Partition partition) const { return !partitioned_ || partitioned_->owners()[partition] == comm_.rank(); }

  // Whether this rank has the rows of a partition: its own, and the copies of roots that hybrid ranks have.
  bool holds(Partition partition) const { return owns(partition) || (merges() && partition_level(partition) == 0); }

  // Empty if every rank has the whole model.
  std::vector<int> owners() const {
    if (!partitioned_) return {};
    return partitioned_->owners();
  }

  // Restores the figures of the checkpoint, unless the resumed run had finished and a new run begins.
  void restore_figures(Progress& progress) {
    if (!setup_.state) return;
    for (const std::string& reason : setup_.resumption->refused) {
      if (comm_.rank() == 0) progress.warn("a checkpoint cannot be used: " + reason);
    }
    if (setup_.begins_stage()) {
      keep_best_of_stage_before();
      return;
    }
    next_renewal_ = setup_.state->next_renewal;
    validation_ = setup_.state->validation;
    progress.restore(setup_.state->progress);
    summary_ = setup_.state->summary;
    counting_ = true;
  }

  // The model of the run stays until a validation of the same shards is better.
  void keep_best_of_stage_before() {
    if (!options_.validation.keep_best || setup_.state->validation.data != setup_.validation_digest) return;
    validation_.model = setup_.state->validation.model;
    summary_.best_validation = setup_.state->summary.best_validation;
  }

  // Creates the directories now, so that writing into one that was renamed or removed later is an error.
  void create_directories(const SafePoint& safe_point) const {
    if (comm_.rank() != 0) return;
    if (!model_.empty()) create_directories_durably(directory_of(model_));
    if (safe_point.enabled()) create_directories_durably(directory_of(options_.checkpoints.directory));
  }

  void make_loops(Progress& progress, SafePoint& safe_point) {
    if (partitioned()) {
      partitioned_.emplace(options_, comm_, learner_, progress, sync_schedule_, renewals_, safe_point);
      return;
    }
    in_order_.emplace(learner_);
    if (comm_.size() > 1)
      replicated_.emplace(options_, comm_, learner_, *in_order_, progress, sync_schedule_, renewals_, safe_point);
  }

  SafePoint::Snapshot snapshot() const {
    RunState state;
    state.options = options_;
    state.init_digest = setup_.init_digest;
    state.sync_points = sync_schedule_.counts();
    if (plan_.under_way()) state.next_renewal = renewal_after_validation_.value_or(renewals_.lines());
    state.validation = validation_;
    state.validation.data = setup_.validation_digest;
    state.summary = summary_;
    state.finished = plan_.finished();
    return {std::move(state), partitioned_ ? partitioned_->owners() : first_owners(comm_.size(), options_.model.trees)};
  }

  // Returns false if there was nothing left to read.
  bool traverse_shards(Progress& progress, SafePoint& safe_point) {
    bool any = false;
    while (plan_.begin_pass()) {
      if (!any) warn_of_idle_ranks(progress);
      any = true;
      run_shard_pass(progress, safe_point);
      if (!plan_.finished()) safe_point.save();
    }
    return any;
  }

  // Returns whether a checkpoint was written.
  bool end_with_checkpoint(bool traversed, SafePoint& safe_point) {
    bool saved = false;
    if (traversed) {
      saved = safe_point.save();
    } else if (setup_.resumption && setup_.resumption->refused.empty()) {
      safe_point.prune();  // the finished run may have been killed before it did; C8: the newest was read to its end
    }
    summary_.checkpoints = safe_point.written();
    summary_.checkpoint_seconds = safe_point.seconds();
    summary_.memory = memory_use();
    return saved;
  }

  // `saved`: has the checkpoint of the same state, if there is one.
  void write_model(const SafePoint* saved, Progress& progress) {
    const StallTimeoutExtension extension(comm_, timeout_for_disks(options_.model));
    if (saved == nullptr) return save_model(learner_, comm_, owners(), model_);
    try {
      return run_on_all(comm_, "write the model", [&] {
        if (comm_.rank() == 0) save_checkpoint_as_model(saved->latest(), model_, cores_of_rank(comm_));
      });
    } catch (const Error& error) {  // on one rank it is no AgreedError
      if (error.fault() != Fault::kBadData && error.fault() != Fault::kNoInput) throw;
      if (comm_.rank() == 0) progress.warn(std::string("the last checkpoint cannot be read again: ") + error.what());
    }
    save_model(learner_, comm_, owners(), model_);  // the same state is still in memory
  }

  ReadOptions read_options(bool learning) const {
    ReadOptions read = cpt::read_options(options_);
    if (learning && options_.model.method == Method::kPecoc) {
      read.knows_label = [&labels = learner_.labels()](std::string_view label) {
        return labels.find(label, hash_label(label)) != kNoLabel;
      };
    }
    return read;
  }

  void run_shard_pass(Progress& progress, SafePoint& safe_point) {
    const ShardPass shard_pass = plan_.shard_pass();
    const bool begins_phase = !counting_ || progress.phase() != shard_pass.phase;
    if (begins_phase) progress.begin(shard_pass.phase);
    if (begins_phase && shard_pass.phase == Phase::kTest) summary_.test_error_lines = 0;
    const bool resumes = plan_.examples() > 0;
    if (!resumes) plan_.set_examples_before(progress.total().examples);
    counting_ = true;
    progress.begin_pass(shard_pass.pass, resumes ? -1 : 0);
    const std::uint64_t bad_lines = traverse(shard_pass, progress, safe_point);
    progress.report_now();
    run_on_all(comm_, "report", [&] { progress.rethrow_failure(); });
    plan_.end_pass();
    validation_.next = 0;
    if (summary_.stopped_early) plan_.end_training();
    if (shard_pass.phase == Phase::kTrain) {
      summary_.train_error_lines += bad_lines;
      summary_.train = progress.total();
      summary_.trained = true;
      if (summary_.train.examples == 0 && options_.init.empty() && !setup_.resumption)
        throw AgreedError(Fault::kBadData, "the shards of --data have no example to learn");
    } else {
      summary_.test_error_lines += bad_lines;
      summary_.test = progress.total();
      summary_.tested = true;
    }
  }

  // Returns the number of bad lines skipped by all ranks.
  std::uint64_t traverse(const ShardPass& shard_pass, Progress& progress, SafePoint& safe_point) {
    const bool learning = shard_pass.phase == Phase::kTrain || !options_.test_frozen;
    const std::vector<std::uint32_t> mine = my_shards(shard_pass);
    const std::vector<Shard> shards = plan_.shards(shard_pass.phase);
    std::optional<BatchReader> reader;
    open_shards(shard_pass, shards, mine, read_options(learning), reader);
    safe_point.set_my_shards(mine);
    if (comm_.size() > 1) reader->call_while_waiting([&] { safe_point.on_input_idle(); });
    const bool validates = shard_pass.phase == Phase::kTrain && !setup_.validation.empty();
    if (validates && validation_.next == 0) validation_.next = options_.validation.every;
    renewals_.begin_pass(std::exchange(next_renewal_, 0), learning, validates ? validation_.next : 0);
    if (learning && !pages_ahead_ && cores_of_rank(comm_) > 1) pages_ahead_.emplace(own_memory());
    std::uint64_t bad_lines = 0;
    for (bool ends = false; !ends;) {
      bad_lines = run_loop(*reader, shard_pass.shards.size(), learning, progress, safe_point);
      ends = !renewals_.validation_due();
      if (validates) ends |= validate(*reader, progress, safe_point);
    }
    if (learning && !partitioned_ && !replicated_) progress.count_sync();
    renewals_.end_pass();
    return bad_lines;
  }

  // Returns at the end of the input, or where renewals say that a validation is due. `shards`: of all ranks.
  std::uint64_t run_loop(BatchReader& reader, std::uint64_t shards, bool learning, Progress& progress,
                         SafePoint& safe_point) {
    if (partitioned_) return partitioned_->run(reader, shards, learning);
    if (replicated_) return replicated_->run(reader, learning, plan_.shard_pass().examples_before);
    return run_alone(options_, learning, *in_order_, reader, progress, renewals_, safe_point);
  }

  // Validates the model as it is, at the end of a pass or where a validation is due, unless that was done. Returns
  // whether training is to end here.
  bool validate(const BatchReader& reader, Progress& progress, SafePoint& safe_point) {
    const bool is_due = renewals_.validation_due();
    const auto& last = summary_.last_validation;
    if (!last || last->examples != progress.examples()) {
      renewals_.share();  // for a checkpoint, and for the model
      safe_point.begin_validation(reader.cursors());
      renewal_after_validation_ = renewals_.lines();
      renewals_.begin_pass(0, false);
      const bool is_best = measure_validation(progress, safe_point);
      safe_point.end_validation();
      if (is_best && options_.validation.keep_best) save_best();
      warn_of_other_examples(progress);
      progress.report_validation(*last);
    }
    summary_.stopped_early = is_to_stop_early(options_.validation, summary_);
    if (is_due) {
      const std::uint64_t every = options_.validation.every;
      const std::uint64_t done = progress.examples() - plan_.shard_pass().examples_before;
      validation_.next = replicated_ ? (done / every + 1) * every : validation_.next + every;
    }
    const std::uint64_t lines = renewal_after_validation_.value_or(renewals_.lines());
    renewal_after_validation_.reset();
    if (is_due || lines != 0) renewals_.begin_pass(lines, true, validation_.next);
    return summary_.stopped_early;
  }

  // Once.
  void warn_of_other_examples(Progress& progress) {
    if (comm_.rank() != 0 || warned_of_other_examples_) return;
    const std::string warning = warning_of_other_examples(options_.validation.metric(), summary_);
    warned_of_other_examples_ = !warning.empty();
    if (warned_of_other_examples_) progress.warn(warning);
  }

  // Returns whether it is the best validation so far.
  bool measure_validation(Progress& progress, SafePoint& safe_point) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<std::uint32_t> mine =
        assign_shards(setup_.validation, readers_of(options_, comm_))[static_cast<std::size_t>(comm_.rank())];
    std::optional<BatchReader> reader;
    run_on_all(comm_, "open validation shards", [&] {
      for (const std::uint32_t n : mine) require_unchanged(setup_.validation[n], setup_.validation_heads[n]);
      reader.emplace(ExampleStream(setup_.validation, mine, read_options(false)));
    });
    Validation validation;
    validation.pass = plan_.shard_pass().pass;
    validation.examples = progress.examples();
    progress.begin_validation();
    run_loop(*reader, setup_.validation.size(), false, progress, safe_point);
    validation.losses = progress.total();
    progress.end_validation();
    validation.value = value_of(options_.validation.metric(), validation.losses);
    validation.run_seconds = progress.seconds();
    validation.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return enter_validation(validation, summary_);
  }

  // Writes the model of the best validation, for now.
  void save_best() {
    const StallTimeoutExtension extension(comm_, timeout_for_disks(options_.model));
    save_model(learner_, comm_, owners(), model_);
    std::uint64_t digest = 0;
    run_on_all(comm_, "validation: model", [&] {
      if (comm_.rank() == 0) digest = read_model_head(model_).digest;
    });
    validation_.model = broadcast_value(comm_, digest, 0, "validation: model");
  }

  // Whether the model of the run was written when it was validated.
  bool keeps_best() const { return options_.validation.keep_best && validation_.model != 0; }

  // Whether the model of the run is that of the best validation. It is not if the run crashed after it wrote a better
  // model, and resumed from an earlier checkpoint along another way; or if the model was replaced or removed.
  bool has_best(Progress& progress) {
    std::uint64_t has = 0;
    run_on_all(comm_, "end: model", [&] {
      if (comm_.rank() != 0) return;
      try {
        has = read_model_head(model_).digest == validation_.model ? 1 : 0;
      } catch (const Error& error) {  // it is gone, or damaged
        if (error.fault() != Fault::kNoInput && error.fault() != Fault::kBadData) throw;
      }
    });
    has = broadcast_value(comm_, has, 0, "end: model");
    if (has == 0 && comm_.rank() == 0) {
      progress.warn(model_.string() +
                    ": is not the model of the best validation; the model of the end of training takes its place");
    }
    return has != 0;
  }

  // Opens the shards of this rank, at the cursors of a resumed run.
  void open_shards(const ShardPass& shard_pass, const std::vector<Shard>& shards,
                   const std::vector<std::uint32_t>& mine, ReadOptions options, std::optional<BatchReader>& reader) {
    const auto is_begun = [&](std::uint32_t number) { return plan_.cursor(number).bytes > 0; };
    const bool resumes = std::ranges::any_of(shard_pass.shards, is_begun);
    const bool skips = resumes && comm_.size() > 1;  // alone, the reader skips while it serves requests to stop
    const bool opens_again = std::exchange(has_opened_shards_, true);  // the first time follows the start at once
    std::optional<ExampleStream> stream;
    run_on_all(comm_, "open shards", [&] {
      if (opens_again) plan_.require_unchanged(mine);
      std::vector<Cursor> cursors;
      for (const std::uint32_t number : mine) cursors.push_back(plan_.cursor(number));
      stream.emplace(shards, mine, std::move(options), cursors);
      if (!skips) reader.emplace(std::move(*stream));
    });
    if (!skips) return;
    skip_to_cursors(*stream, comm_);
    run_on_all(comm_, "open shards", [&] { reader.emplace(std::move(*stream)); });
  }

  // The shards of the current shard pass.
  std::vector<Shard> to_read() const {
    const std::vector<Shard> known = plan_.shards(plan_.shard_pass().phase);
    std::vector<Shard> shards;
    for (const std::uint32_t number : plan_.shard_pass().shards) shards.push_back(known[number]);
    return shards;
  }

  // A resumed run keeps the division of its shards.
  void warn_of_idle_ranks(Progress& progress) {
    if (comm_.rank() != 0) return;
    const std::string warning = warning_of_idle_ranks(to_read(), readers_of(options_, comm_), !setup_.resumption);
    if (!warning.empty()) progress.warn(warning);
  }

  // The numbers of the shards that this rank reads.
  std::vector<std::uint32_t> my_shards(const ShardPass& shard_pass) const {
    std::vector<std::uint32_t> mine =
        assign_shards(to_read(), readers_of(options_, comm_))[static_cast<std::size_t>(comm_.rank())];
    for (std::uint32_t& index : mine) index = shard_pass.shards[index];
    return mine;
  }

  // The rows of other owners were never touched here.
  WeightTable::Survey survey_own() const {
    const WeightTable& weights = learner_.weights();
    if (!partitioned_) return weights.survey();
    WeightTable::Survey survey;
    for (Partition p = 0; p < weights.partitions(); ++p) {
      if (owns(p)) survey.add(weights.survey(p));
    }
    return survey;
  }

  // The memory that this rank learns in.
  std::vector<std::span<std::byte>> own_memory() {
    std::vector<std::span<std::byte>> memory = learner_.feature_counts().memory();
    WeightTable& weights = learner_.weights();
    for (Partition p = 0; p < weights.partitions(); ++p) {
      if (holds(p)) memory.push_back(weights.memory(p));
    }
    return memory;
  }

  MemoryUse memory_use() const {
    MemoryUse use{.rank = comm_.rank(), .peak_bytes = peak_memory(), .table_bytes = learner_.weights().bytes()};
    use.calibration_bytes = learner_.weights().calibrators().bytes() + learner_.feature_counts().bytes();
    for (const Tree& tree : learner_.trees()) use.structure_bytes += tree.bytes();
    use.structure_bytes += learner_.labels().bytes() + learner_.frequencies().bytes();
    if (!partitioned_) return use;
    use.structure_bytes += partitioned_->structure_bytes();
    use.table_bytes = 0;
    for (Partition p = 0; p < learner_.weights().partitions(); ++p) {
      if (holds(p)) use.table_bytes += learner_.weights().region(p).rows * sizeof(Row);
    }
    return use;
  }

  // The figures of the whole run. Collective.
  void measure(const Progress& progress) {
    summary_.ranks = comm_.size();
    summary_.partitioned = partitioned();
    summary_.readers = static_cast<int>(std::ranges::count(readers_of(options_, comm_), true));
    summary_.seconds = progress.seconds();
    summary_.rounds = progress.rounds();
    summary_.sync_points = progress.sync_points();
    summary_.tree = measure_tree(learner_);
    const WeightTable::Survey survey = survey_own();
    summary_.weight_bytes = learner_.weights().bytes();
    summary_.rows_used = survey.used;
    const std::uint64_t counts_digest = learner_.feature_counts().digest();
    summary_.weight_digest = survey.digest + learner_.frequencies().digest() + counts_digest;
    run_on_all(comm_, "end", [&] {
      if (!survey.finite) throw_diverged();
    });
    if (partitioned()) {
      std::uint64_t sums[] = {survey.used, survey.digest};
      sum_in_rank_order(comm_, sums, "end: weights");
      summary_.rows_used = sums[0];
      summary_.weight_digest = sums[1] + counts_digest;
      summary_.partitions_moved = partitioned_->partitions_moved();
      summary_.balance = partitioned_->latest_balance();
    } else {
      require_equal(comm_, {{"other weights", summary_.weight_digest}}, "end: digests", Fault::kFailed,
                    " at the end of the run");
    }
    summary_.traffic = traffic_of_all(comm_, "end: traffic");
    for (const auto& [call, part] : summary_.traffic) {
      summary_.bytes_sent += part.bytes;
      summary_.communication_seconds += part.seconds;
    }
  }

  Communicator& comm_;
  const std::optional<std::uint64_t> free_;  // memory, before the run took any
  RunSetup setup_;
  const TrainingOptions& options_;  // of setup_, like plan_ and learner_
  TraversalPlan& plan_;
  Learner& learner_;
  SyncSchedule sync_schedule_;
  Renewals renewals_;
  // One rank has in_order_ only, replicas replicated_ too, others partitioned_ only.
  std::optional<InOrder> in_order_;
  std::optional<ReplicatedLoop> replicated_;
  std::optional<PartitionedLoop> partitioned_;
  std::optional<PagesAhead> pages_ahead_;  // once something is learned
  bool has_opened_shards_ = false;
  bool counting_ = false;           // a phase has begun
  std::uint64_t next_renewal_ = 0;  // of the pass that a resumed run goes on with
  ValidationState validation_;
  std::optional<std::uint64_t> renewal_after_validation_;  // while one is made
  bool warned_of_other_examples_ = false;
  std::filesystem::path model_;
  Summary summary_;
};

Training::Training(const TrainingOptions& options, Communicator& comm) : run_(std::make_unique<Run>(options, comm)) {}
Training::~Training() = default;

const TrainingOptions& Training::options() const { return run_->options(); }
const std::optional<Resumption>& Training::resumption() const { return run_->resumption(); }
RunPlan Training::plan() const { return run_->plan(); }
TrainingResult Training::run(Observer& observer, const std::filesystem::path& model) {
  return run_->run(observer, model);
}

}  // namespace cpt
