// Training a model from shards.
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

// How the weights of the ranks become one set at an sync point. For a line, rank r brings its change delta_r since
// the last merge, and its confidence c_r: by how much its sum of squared gradients grew.
enum class MergeRule : std::uint8_t {
  kAverage,      // the mean of delta_r over all ranks, and of their accumulators
  kConfidence,   // sum(c_r delta_r) / sum(c_r); accumulators add up
  kContraction,  // sum(c_r delta_r) (1 - exp(-C)) / sum(c_r (1 - exp(-c_r))), C = sum(c_r), in units of the mean growth
                 // per update of a line: the sum of the changes where there were few, their weighted mean where many
};

// Who has which weights, where there are several ranks. Methods other than trees are always replicated: every example
// tasks every label, and a probability needs what all labels say.
enum class Placement : std::uint8_t {
  kPartitioned,  // each rank a part of them; examples travel to the owners, and the result is that of one rank
  kReplicated,   // every rank all of them; they merge at sync points
};

// What somebody asks of a run while it is under way.
enum class Request : std::uint8_t { kNone, kCheckpoint, kStop };

// How the state of a run is kept on disk: at the end of a pass and of the run, and more often as asked for here.
struct CheckpointOptions {
  std::filesystem::path directory;  // the same on all ranks; may be empty where nothing is kept or resumed
  std::chrono::milliseconds every{std::chrono::minutes(10)};  // 0: not by time
  std::uint64_t every_examples = 0;                           // of all ranks; 0: not by examples
  std::uint64_t keep = 2;                                     // so many, the newest; 0: none is ever written
  // What was asked of this rank since the last call. Called often; may be empty.
  std::function<Request()> requested;
};

struct TrainingOptions {
  ModelOptions model;
  // Of a given tree: "file:PATH", what `cpt dump` writes, or "huffman:PATH", labels and counts; rank 0 reads it. Its
  // labels are seen ones from the start. Empty for other trees, and where the tree is that of `init`.
  std::string given_tree;
  // model.bits follows from the sizes of the shards, as far as the memory of all hosts goes; see bits_for_text(). A
  // model to begin with, or a checkpoint to go on from, has its own.
  bool auto_bits = false;
  std::string init;               // a finished model to begin with, whose options then hold, whatever `model` says
  std::string labels;             // PECOC: a file of all labels, one a line; empty: they are looked for in the shards
  std::vector<std::string> data;  // files, directories, globs, "-"; may be empty where there are `init` and `test`
  std::vector<std::string> test;  // streamed after the last pass; may be empty
  bool test_frozen = false;       // the test shards are predicted only
  Format format = Format::kAuto;
  MultiLabel multilabel = MultiLabel::kFirst;
  std::uint32_t split =
      1;  // a file that is not compressed is read as so many shards, 1 to 4096; other files are one each
  std::uint32_t passes = 1;
  Placement placement = Placement::kPartitioned;
  MergeRule merge = MergeRule::kConfidence;  // of replicas
  double sync_fraction = 0.02;      // an sync interval ends after this fraction of all examples so far, in (0, 1] ...
  std::uint64_t sync_examples = 0;  // ... or after so many, if this is not 0
  std::uint64_t round_examples =
      0;  // of all ranks together in a round, about; 0: as seems best. Partitioned: only for speed
  bool skip_bad_lines = false;                  // else the first one ends the run
  std::optional<std::uint64_t> most_bad_lines;  // the run ends when more are skipped in a pass, on all ranks together
  CheckpointOptions checkpoints;
  // Go on from the newest checkpoint, if there is one. All above then holds as it did when the run began, but for
  // `passes` and `checkpoints`, and for `data` and `test` where they are given.
  bool resume = false;

  // Throws Error(kUsage).
  void validate() const;
  // Whether the run changes the model that it begins with.
  bool learns() const { return !data.empty() || (!test.empty() && !test_frozen); }
};

// What a part of the run came to, and where it stands in a report.
enum class Phase : std::uint8_t { kTrain, kTest };

struct TreeFigures {
  bool is_flat = false;  // the method is not a tree: only labels and digest mean something
  std::uint64_t labels = 0;
  std::uint32_t depth_max = 0;
  double depth_mean = 0;
  double depth_bound = 0;  // of the paper; 0 where the rule has not grown the tree
  std::uint64_t disagreements = 0;
  std::uint64_t digest = 0;
};

// How the run stands; the same on all ranks but for `seconds` and communication.
struct Report {
  Phase phase = Phase::kTrain;
  std::uint32_t pass = 0;  // 1, 2, ... of the training data; 0 for test data
  Losses so_far;           // of this phase, all ranks together
  Losses since_last;
  double seconds = 0;  // since training began
  std::uint64_t labels = 0;
  std::uint32_t depth_max = 0;
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t bytes_sent = 0;      // by this rank
  double communication_seconds = 0;  // this rank's waiting
  TrafficByCall traffic;             // both by what for, so far
};

// How evenly the owners of the model are loaded. A load is examples times weight rows, and half a block's lines for
// each visit of an example that begins at a rank; where ranks did enough to tell (half a million lines), lines
// count by the processor time that they took. Those of an sync interval count half as much with every sync interval
// that follows.
struct Balance {
  struct Move {
    std::uint32_t partition = 0;
    int from = 0;
    int to = 0;
  };
  int busiest_rank = 0;
  double busiest_over_mean = 1;   // its load over the mean of all ranks
  double expected_over_mean = 1;  // the same after the moves
  std::vector<Move> moves;        // of partitions of the model that change owners now
  // Rank 0 is kept busy by the root, which every example passes: more ranks would not help.
  bool limited_by_root = false;
};

// A checkpoint that was written.
struct CheckpointReport {
  std::filesystem::path directory;
  std::uint64_t examples = 0;  // of the phase under way, so far
  double run_seconds = 0;      // since training began
  double seconds = 0;          // that it took, checks included
  std::uint64_t bytes = 0;     // on disk
};

// Of a rank.
struct MemoryUse {
  int rank = 0;
  std::uint64_t peak_bytes = 0;       // the most that its process has had in memory at a time; 0 if not known
  std::uint64_t table_bytes = 0;      // of the weight table, what the rank holds; not all need be in use
  std::uint64_t structure_bytes = 0;  // tree and labels; of the method `table` counts, too
};

struct Summary {
  int ranks = 1;
  bool partitioned = false;  // several ranks, each of which holds a part of the weights
  double seconds = 0;        // of training and testing, reading included
  Losses train;
  Losses test;
  bool trained = false;  // there was training data
  bool tested = false;
  std::uint64_t train_error_lines = 0;  // bad lines skipped
  std::uint64_t test_error_lines = 0;
  TreeFigures tree;
  std::uint64_t rows_used = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t weight_digest = 0;  // of frequencies for the method `table`
  std::uint64_t rounds = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t bytes_sent = 0;        // by all ranks
  double communication_seconds = 0;    // mean over the ranks
  TrafficByCall traffic;               // both by what for; waits of all ranks together
  std::uint64_t partitions_moved = 0;  // partitioned placement: times that a partition has changed owners
  std::optional<Balance> balance;      // ... and of the last sync interval whose loads were compared
  std::uint64_t checkpoints = 0;       // written, since the run was started or resumed
  double checkpoint_seconds = 0;       // ... and what they took together; the last one comes after `seconds`
  MemoryUse memory;                    // of this rank, when the run ended
};

// Told how the run goes, on rank 0 only and from the thread that trains.
class Observer {
 public:
  virtual ~Observer() = default;
  // Comes after 1, 2, 4, 8, ... examples of a phase and at the end of each pass.
  virtual void report(const Report& report) = 0;
  // A line for the log; of other ranks with their rank and host.
  virtual void warn(const std::string& text) = 0;
  // At the end of an sync interval whose loads make partitions move. `sync interval` is its number, from 1.
  virtual void rebalanced(const Balance& /*balance*/, std::uint64_t /*interval*/) {}
  virtual void checkpointed(const CheckpointReport& /*report*/) {}
  // A few times a second at most: examples of this phase so far on all ranks, seconds since training began, and the
  // part of the pass that this rank has read, in [0, 1], negative if not known.
  virtual void progress(std::uint64_t examples, double seconds, double part_of_pass) = 0;
};

struct TrainingResult {
  Model model;  // whole, or (partitioned, several ranks) with all of the tree and the weights that this rank owns
  Summary summary;
  std::vector<int> owners;  // the rank that owns a partition; empty where every rank has all
};

// Trains on this process alone, all that the options say but for writing the model: see Model::save(). Throws Error:
// kUsage for options out of range; kNoInput where a shard, the model or the given tree is missing; kBadData for data
// that cannot be parsed, a damaged model or given tree, shards that are not those of the checkpoint, and where no
// checkpoint of several can be read; kCannotWrite where a checkpoint cannot be written; kFailed if the weights diverge
// or find no memory, and where the run was asked to stop and nothing is kept; kStopped where it was asked to stop and a
// checkpoint is kept. What the observer throws ends the run, too.
TrainingResult train(const TrainingOptions& options, Observer& observer);

}  // namespace cpt
