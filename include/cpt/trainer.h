// Training a model from shards: options, progress, and results. train() below runs in this process alone; the program
// cpt_dist runs the same on the ranks of an MPI job, and "rank" here means such a process.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cpt/input.h"
#include "cpt/losses.h"
#include "cpt/model.h"
#include "cpt/options.h"
#include "cpt/traffic.h"

namespace cpt {

// How replicas merge their weights at a sync point. For each row, rank r contributes delta_r, its change since the last
// merge, with the confidence c_r, the growth of its sum of squared gradients.
enum class MergeRule : std::uint8_t {
  kAverage,      // the mean of delta_r over all ranks; likewise of the accumulators
  kConfidence,   // sum(c_r delta_r) / sum(c_r); accumulators add up
  kContraction,  // sum(c_r delta_r) (1 - exp(-C)) / sum(c_r (1 - exp(-c_r))), C = sum(c_r), in units of the mean growth
                 // per update of a row: about the sum of few changes, and the weighted mean of many
};

// Which rank holds which weights. Methods other than trees are always replicated, since every example involves all
// labels. On one rank all placements are the same.
enum class Placement : std::uint8_t {
  kPartitioned,  // each rank owns a part; examples travel to the owners; the result is that of one rank
  kReplicated,   // every rank holds all of them; they merge at sync points
  kHybrid,       // every rank holds the top block of each tree, merged at sync points; the rest is partitioned
};

// A request from outside to a run while it trains: a checkpoint, or a checkpoint and then the end.
enum class Request : std::uint8_t { kNone, kCheckpoint, kStop };

// When checkpoints are written besides the end of each pass and of the run, and how many are kept.
struct CheckpointOptions {
  // The same on all ranks; empty: none are written, and none can be resumed from. Created when the first one is
  // written; the directories above it, when the run starts.
  std::filesystem::path directory;
  std::chrono::milliseconds every{std::chrono::minutes(10)};  // 0: not by time
  std::uint64_t every_examples = 0;                           // counted over all ranks; 0: not by examples
  std::uint64_t keep = 2;                                     // number of recent checkpoints to keep; 0: write none
  // Returns what was requested of this rank since the last call, such as by a signal. Called often, from the thread
  // that trains; may be empty.
  std::function<Request()> requested;
};

// A loss to judge a model by: the smaller the better. The metrics of seen labels leave out examples with new labels.
// kTop1ErrorSeen is not known for several trees.
enum class Metric : std::uint8_t { kLog, kLogSeen, kSquared, kSquaredSeen, kBrierSeen, kTop1ErrorSeen };

// Predicting other shards with the model as it is, between two examples of the training data.
struct ValidationOptions {
  std::vector<std::string> data;  // files, directories and globs; empty: the run is not validated
  // Validate whenever this many more examples of a pass were learned, besides the end of each pass; 0: only there. Here
  // a line of the input counts as one example even if it is split into several; but kReplicated on several ranks counts
  // each of these.
  std::uint64_t every = 0;
  // Keep the model with the best value, not the last one; needs TrainingOptions::model_directory, excludes `test`.
  std::optional<Metric> keep_best;
  std::uint64_t early_stop = 0;  // end training after this many validations without a better value; 0: never

  // The metric by which one validation is better than another.
  Metric metric() const { return keep_best.value_or(Metric::kLog); }
};

// The options of a run: the model, what it learns from, and how. Ranks must be given the same.
struct TrainingOptions {
  ModelOptions model;
  // The tree to start from, if model.tree is kGiven: "file:PATH" in the format that `cpt dump` writes, or
  // "huffman:PATH", a file of labels and counts. Rank 0 reads it. Its labels count as seen from the start. Empty for
  // other trees, and if the tree comes from `init`.
  std::string given_tree;
  // Choose model.bits by the size of the shards; the table takes at most half of each host's free memory. The bits of
  // an initial model, or of a checkpoint, stay.
  bool auto_bits = false;
  std::string init;    // directory of a model to start from; its options replace `model`
  std::string labels;  // kPecoc: a file of all labels, one per line; empty: a pass over the shards finds them
  std::vector<std::string> data;  // files, directories, globs, "-"; may be empty if `init` and `test` are given
  std::vector<std::string> test;  // shards to predict, then learn, after the last pass
  // The names of the columns of csv files that have no header; Format::kAuto then takes all text for kCsv. If empty,
  // the first line of each file names them.
  std::vector<std::string> columns;
  bool test_frozen = false;  // only predict the test shards
  Format format = Format::kAuto;
  MultiLabel multilabel = MultiLabel::kFirst;
  std::uint32_t split = 1;   // in [1, 4096]: read each uncompressed file as this many shards
  std::uint32_t passes = 1;  // at least 1
  Placement placement = Placement::kPartitioned;
  MergeRule merge = MergeRule::kConfidence;  // used by kReplicated and kHybrid
  // A sync interval lasts for sync_examples examples; if that is 0, for the fraction sync_fraction, at most 1, of all
  // examples so far. If both are 0, it lasts for 0.02 of them where nothing merges; otherwise until a merge costs
  // little beside the training before it, but for at least 0.02 and at most 0.5 of all examples, and at most 2^28 rows
  // trained by each rank.
  std::uint64_t sync_examples = 0;
  double sync_fraction = 0;
  // Approximate number of examples in a round, over all ranks; 0: automatic. Affects only speed if kPartitioned.
  std::uint64_t round_examples = 0;
  bool skip_bad_lines = false;                  // else the first malformed line ends the run
  std::optional<std::uint64_t> most_bad_lines;  // end the run if a pass skips more, counted over all ranks
  ValidationOptions validation;
  CheckpointOptions checkpoints;
  // Where train() writes the model, as Model::save() does, and during the run each that is better than those before, if
  // validation.keep_best; empty: nowhere. The directories above it are created.
  std::filesystem::path model_directory;
  std::chrono::milliseconds progress_every{std::chrono::seconds(10)};  // between Observer::stretch(); 0: never
  // Continue from the newest checkpoint, if there is one; needs checkpoints.directory. All options above then keep the
  // values that they had when the run began, except passes, skip_bad_lines, most_bad_lines, labels, progress_every,
  // checkpoints, model_directory and, if kPartitioned, round_examples; and data, test and validation.data if they are
  // given.
  bool resume = false;

  // Throws Error(kUsage) that names the option, if one is out of range or two contradict.
  void validate() const;
  // Whether the run changes the model that it starts from.
  bool learns() const { return !data.empty() || (!test.empty() && !test_frozen); }
};

// The part of a run that a report is about.
enum class Phase : std::uint8_t { kTrain, kTest };

// Size and shape of a tree.
struct TreeFigures {
  bool is_flat = false;  // the method is not a tree; only labels and digest are meaningful
  std::uint64_t trees = 1;
  std::uint64_t labels = 0;     // of each tree
  std::uint32_t depth_max = 0;  // nodes above the deepest leaf of all trees
  double depth_mean = 0;
  double depth_bound = 0;           // the paper's bound on depth_max; 0 if it does not apply
  std::uint64_t disagreements = 0;  // in all trees
  std::uint64_t digest = 0;
};

// The state of a run. The figures of communication are those of rank 0, which reports.
struct Report {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;  // pass over the training data, from 1; 0 for test data
  Losses so_far;           // of this phase, over all ranks
  Losses since_last;       // since the report before
  double seconds = 0;      // since training began
  std::uint64_t labels = 0;
  std::uint32_t depth_max = 0;
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t bytes_sent = 0;      // bytes sent by this rank
  double communication_seconds = 0;  // time that this rank waited
  TrafficByCall traffic;             // both, by purpose
};

// A validation.
struct Validation {
  std::uint32_t pass = 0;                 // as in Report
  std::uint64_t examples = 0;             // of the training data that were learned before it, in all passes
  Losses losses;                          // of the validation data
  double value = 0;                       // of ValidationOptions::metric(); NaN if there was no example or sample
  std::uint64_t without_improvement = 0;  // validations with a value since the best one, this one included
  double run_seconds = 0;                 // from the start of training to its end
  double seconds = 0;                     // duration
};

// What all ranks did since the last stretch, or since the phase or the resumed run began.
struct Stretch {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;      // as in Report
  std::uint64_t examples = 0;  // of the phase so far
  double seconds = 0;          // since training began
  Losses losses;               // of the stretch
  double duration = 0;         // of the stretch, in seconds
  // The part of the pass, in [0, 1], that the rank furthest behind has read, and the seconds that the rest takes at the
  // pace of the stretch; negative if not known.
  double part_of_pass = -1;
  double seconds_left = -1;
  bool validates = false;        // part of a validation, which `examples` then counts
  std::uint64_t peak_bytes = 0;  // peak resident memory of the rank that has the most
};

// How evenly the owners of partitions are loaded. The load of a rank is the number of rows that its examples visit,
// plus the cost of the tasks that start there: 5/8 of the rows of a root's partition, and of a partition whose examples
// come from another rank 1/2 at level 1 and 1/4 below. Once ranks have done enough (half a million rows), rows are
// weighed by the processor time that they took. The weight of an earlier sync interval halves with each later one.
struct Balance {
  struct Move {
    std::uint32_t partition = 0;
    int from = 0;
    int to = 0;
  };
  int busiest_rank = 0;
  double busiest_over_mean = 1;   // load of the busiest rank over the mean of all ranks
  double expected_over_mean = 1;  // the same, as expected after the moves
  std::vector<Move> moves;        // partitions that change owners now
  // The owner of a root is the bottleneck, because every example passes the root: more ranks would not help.
  bool limited_by_root = false;
};

// A checkpoint that has been written.
struct CheckpointReport {
  std::filesystem::path directory;
  std::uint64_t examples = 0;  // examples of the current phase so far
  double run_seconds = 0;      // from the start of training to this checkpoint
  double seconds = 0;          // time to write and verify it
  std::uint64_t bytes = 0;     // on disk
};

// The memory of one rank.
struct MemoryUse {
  int rank = 0;
  std::uint64_t peak_bytes = 0;         // peak resident memory of the process; 0 if not known
  std::uint64_t table_bytes = 0;        // the rank's part of the weight table, whether used or not
  std::uint64_t structure_bytes = 0;    // tree and labels; with kTable, its counts too
  std::uint64_t calibration_bytes = 0;  // calibrators of the nodes, and the counts of features
};

// The result of a run, apart from the model.
struct Summary {
  int ranks = 1;
  int readers = 1;                 // ranks that read shards: all, but owners of roots if these are the bottleneck
  bool partitioned = false;        // several ranks, partitioned or hybrid
  double seconds = 0;              // duration of training and testing, reading included
  bool had_nothing_to_do = false;  // the run was resumed after its end, and there was no new shard
  Losses train;
  Losses test;
  bool trained = false;                 // whether there was training data ...
  bool tested = false;                  // ... and test data
  std::uint64_t train_error_lines = 0;  // malformed lines skipped
  std::uint64_t test_error_lines = 0;
  std::uint64_t validations = 0;
  std::optional<Validation> last_validation;
  std::optional<Validation> best_validation;
  bool stopped_early = false;  // by ValidationOptions::early_stop
  TreeFigures tree;
  std::uint64_t rows_used = 0;  // rows of the weight table that were ever trained
  std::uint64_t weight_bytes = 0;
  std::uint64_t weight_digest = 0;  // with kTable, of its counts
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t bytes_sent = 0;        // bytes sent by all ranks
  double communication_seconds = 0;    // waiting time, mean over the ranks
  TrafficByCall traffic;               // both, by purpose; `waits` are summed over all ranks
  std::uint64_t partitions_moved = 0;  // number of times that a partition changed owners
  std::optional<Balance> balance;      // of the last sync interval whose loads were compared
  std::uint64_t checkpoints = 0;       // written since the run was started or resumed
  double checkpoint_seconds = 0;       // time that they took; the last one is not part of `seconds`
  MemoryUse memory;                    // of this rank at the end of the run
};

// Receives reports of a run, on rank 0 only, from the thread that trains. What a member throws ends the run.
class Observer {
 public:
  virtual ~Observer() = default;
  // Called after 1, 2, 4, 8, ... examples of a phase, and at the end of each pass.
  virtual void report(const Report& /*report*/) {}
  // A warning of one line. Warnings of other ranks name their rank and host.
  virtual void warn(const std::string& text) = 0;
  // Called at the end of sync interval number `interval` (from 1) if partitions change owners.
  virtual void rebalanced(const Balance& /*balance*/, std::uint64_t /*interval*/) {}
  virtual void checkpointed(const CheckpointReport& /*report*/) {}
  virtual void validated(const Validation& /*validation*/) {}
  // A few times a second at most: examples of this phase so far on all ranks, seconds since training began, and the
  // part of the pass that has been read, in [0, 1], negative if not known.
  virtual void progress(std::uint64_t /*examples*/, double /*seconds*/, double /*part_of_pass*/) {}
  // Called every TrainingOptions::progress_every while examples arrive, at the end of a round.
  virtual void stretch(const Stretch& /*stretch*/) {}
};

struct TrainedModel {
  Model model;
  Summary summary;
};

// Trains in this process alone, as the options say. The model returned is the last one, or with validation.keep_best
// the best, which is read back from model_directory. Throws Error:
//   kUsage        an option is out of range, or validation.keep_best is set without model_directory
//   kNoInput      a shard, the initial model or the given tree is missing
//   kBadData      malformed data, or none; a damaged model or given tree; shards that differ from the checkpoint's; or
//                 none of the checkpoints can be read
//   kCannotWrite  a checkpoint or the model cannot be written
//   kFailed       the weights diverged or found no memory, or the run was asked to stop and keeps no checkpoints
//   kStopped      the run was asked to stop, and a checkpoint to resume from was written
// What the observer throws ends the run, too.
TrainedModel train(const TrainingOptions& options, Observer& observer);

}  // namespace cpt
