// Every message between the owners of partitions, and the steps of the round that send them.
//
//   message               written by                    read by
//   RoundHeader, examples Dispatcher on each rank       every rank: the header; owners: the examples; rank 0: warnings
//   HopHeader, tasks      PartitionOwner of a root      owners of the next partitions on an example's path
//     ReportPoint*        Coordinator on rank 0         every rank (in the message of rank 0)
//     TreeAnnouncement    TreeReplicator on rank 0      TreeReplicator on every rank (likewise)
//   HopHeader, tasks      PartitionOwner at level 1     owners of deep partitions
//   ResultHeader, PartialResult*, Numbered*, Split*
//                         PartitionOwner on each rank   RoundLedger of the rank that read the example; rank 0, which
//                                                       receives all splits: Coordinator
//
// All parts start at multiples of 8 bytes, so that examples are read where they arrive:
//
//   examples = offsets (u64: how many), routed example*, offsets (u32 each, in units of 8 bytes)
//   routed example = RoutedHead (24 bytes), ExampleRecord
//   tasks    = task*
//   task     = kind (u8), 1 where an example follows (u8), partition (u16), disagreements (u32), details by kind,
//              [order (u64), slot (u32), label (u32), reader (u64), ExampleRecord]
//              of several tasks of one example in a row, only the first carries it
//   details  = kDraw: coins (u64), probability (f64); kSearch: probability, least (f64 each);
//              kKnown: nothing; kInsert: coins (u64); kOpen: split (u64)
//
// Examples in the sender's SharedExampleRing are named by their offsets there. They precede the others in order: once
// one finds no room in the ring, no later one of the round does.
//
// A round takes five steps, which overlap those of the rounds before and after it. Each step starts what a later one
// waits for:
//   read     each rank reads its part of the round, and sends each example to the owners on its path
//   root     the owner of each root takes the examples through it, in order; those whose path was unknown leave as
//            tasks
//   level 1  the next owners on the path take them through their partitions: of level 1, or deep ones whose level-1
//            partition the root's owner has
//   deep     the last owners take them through theirs; the results go to the ranks that read the examples
//            (consecutive partitions of one owner are passed in one step, the first one's: see Stage)
//   close    each rank counts the losses of its examples; rank 0 inserts new labels, and all ranks receive these
//            changes of the tree with the root's tasks of a later round
//
// Call the step in which a rank reads round m step m. The rank has then ended step m - 1, where it waited for the
// examples that all ranks read in step m - 2. So all ranks have ended step m - 3. At the end of the input, the results
// of the last round wait for messages that all ranks sent in the step before, and all ranks meet before anything is
// read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "comm/buffer.h"
#include "core/checked.h"
#include "train/partitioned/wire/partition_task.h"

namespace cpt {

// Steps of a round.
inline constexpr std::size_t kPipelineDepth = 5;

// The last step in which an owner looks at an example, counted from the one that reads it: the deep stage.
inline constexpr std::size_t kLastUseOfExample = kPipelineDepth - 2;
// While any rank is in step m, all ranks have ended step m - kStepsUntilAllEnded.
inline constexpr std::size_t kStepsUntilAllEnded = 3;
// A rank keeps the examples of this many rounds: those of round m overwrite those of the latest round that no rank
// looks at any more.
inline constexpr std::size_t kRoundsKept = kLastUseOfExample + kStepsUntilAllEnded;
// This many steps after a rank receives a change of the tree, every round that it read before is closed.
inline constexpr std::size_t kStepsUntilForgotten = kPipelineDepth;

// Leads the examples of a rank in a round.
struct RoundHeader {
  std::uint64_t examples = 0;       // read by the sender
  std::uint64_t features = 0;       // of all of them
  std::uint64_t fault = 0;          // encode_fault() of the sender's failure
  std::uint64_t bad_lines = 0;      // skipped by the sender in this pass
  std::uint64_t active_shards = 0;  // shards that still had examples
  std::uint64_t warning_bytes = 0;  // at the end of the message to rank 0
  std::uint64_t ended = 0;          // 1: the sender has no more examples
  std::uint64_t requests = 0;       // see RequestBits
  // Of the copies of the sender since their last merge; see IntervalRows.
  std::uint64_t rows_to_merge = 0;
  std::uint64_t rows_trained = 0;
  double part_read = 1;  // of the pass by the sender; negative if not known
};

// Leads the tasks that a stage hands on. is_void, here and below, is 1 or 0: the sender has failed, or knows of a
// failure, and has computed nothing.
struct HopHeader {
  std::uint64_t is_void;
  std::uint64_t task_bytes;
  std::uint64_t reports;  // in messages of rank 0 from the root: report points, which the announcement of tree changes
                          // follows
};

// A report is due in this round, after the example at this place in the order of all of them.
struct ReportPoint {
  std::uint64_t order;   // PartitionTask::order
  std::uint64_t number;  // examples of the phase up to there
  std::uint64_t labels;  // in the tree by then
};

// Rank 0's tree after the changes that follow it.
struct TreeAnnouncement {
  std::uint64_t labels;
  std::uint64_t digest;  // Learner::growth_digest()
};

// Leads the results of a round.
struct ResultHeader {
  std::uint64_t is_void;
  std::uint64_t partials;
  std::uint64_t numbered;
  std::uint64_t splits;  // 0 but to rank 0
};

// For the rank that read an example, if it did not know the label or the example is sampled; see Coordinator::open().
struct Numbered {
  std::uint64_t number = 0;  // among all examples of the phase, from 1: by which it is sampled
  std::uint32_t slot = 0;
  LabelId label = kNoLabel;  // kNoLabel: unknown to a tree that does not learn
  std::uint64_t is_new = 0;  // 1: the label was not in the tree
};

// A part of the result of an example.
struct PartialResult {
  enum class Kind : std::uint32_t {
    kUpper,  // value: product of the node probabilities on its label's path in the root partition, or in that of level
             // 1
    kDeep,   // ... in the deep partition
    kDrawn,  // value: the probability of `label`, which was drawn
    kFound,  // value: the probability of `label`, the best one of a partition; an example may have several
  };
  PartialResult() = default;
  PartialResult(std::uint32_t of_part, Kind of_kind, LabelId of_label, double its_value)
      : part(of_part), label(of_label & ((1U << 30) - 1)), kind(of_kind), value(its_value) {}

  std::uint32_t part = 0;  // of the example and its tree: see part_number()
  LabelId label : 30 = 0;
  Kind kind : 2 = Kind::kUpper;
  double value = 0;
};
static_assert(sizeof(PartialResult) == 16);

// The results of an example are numbered by its slot among those of its rank, and by tree. Throws Error(kFailed) if the
// number does not fit.
inline std::uint32_t part_number(std::uint32_t slot, std::size_t tree, std::size_t trees) {
  return narrow<std::uint32_t>(slot * trees + tree, "the examples of a round, times trees");
}

// A change of a tree that an owner has made: `label` has split the leaf of `split`.
struct Split {
  LabelId label = kNoLabel;
  LabelId split = kNoLabel;
  std::uint32_t disagreements = 0;
  std::uint32_t tree = 0;
};

// Takes the header off the front of a message. Throws a protocol error if the message is shorter.
template <class Header>
Header take_header(ConstBytes& message) {
  if (message.size() < sizeof(Header)) throw_protocol_error("a message is shorter than its header");
  const auto header = read_front<Header>(message);
  message = message.subspan(sizeof header);
  return header;
}
// Takes `count` bytes off the front of a message. Throws a protocol error if there are fewer.
ConstBytes take_bytes(ConstBytes& message, std::uint64_t count);

// A routed example in memory or in a message. write_routed() writes routed_bytes(shape) bytes; read_routed() reads what
// it wrote, in place, and returns their number, or throws a protocol error if `from` is not a whole routed example.
std::size_t routed_bytes(const ExampleRecord::Shape& shape);
void write_routed(const RoutedExample& head, const ExampleRecord::Shape& shape, const ExampleRecord::Parts& parts,
                  std::byte* at);
std::size_t read_routed(ConstBytes from, RoutedExample& example);

class ExampleWriter {
 public:
  // Everything up to end() is appended to this message.
  void begin(Buffer& message);
  // For a rank that reads this rank's ring: appends the example's offset there.
  void append(std::uint32_t offset) { offsets_.push_back(offset); }
  // Appends the example itself, with the name of the label if head.label is kNoLabel.
  void append(const RoutedExample& head, const ExampleRecord::Parts& parts);
  void end();

 private:
  Buffer* message_ = nullptr;
  std::size_t begin_ = 0;  // in it
  std::vector<std::uint32_t> offsets_;
};

// One message, which must outlive the writer.
class TaskWriter {
 public:
  explicit TaskWriter(Buffer& message) : message_(&message) {}
  void append(const PartitionTask& task);

 private:
  Buffer* message_;
  std::uint64_t last_order_ = ~std::uint64_t{0};
};

struct ExamplesMessage {
  ConstBytes bytes;
  std::uint64_t examples = 0;  // read by the sender: its slots are below
  ReaderRank reader = 0;       // the sender
  ConstBytes ring = {};        // the sender's; empty where this rank does not read it
};

// Append the contents of the messages, one after another, and the number of elements after each message. The results
// refer to examples in the messages and rings, which must outlive them. Both throw a protocol error, Error(kFailed), if
// a message is not one of the writers above, or names a slot, partition or offset that does not exist.
void read_examples(const std::vector<ExamplesMessage>& messages, std::vector<RoutedExample>& examples,
                   std::vector<std::size_t>& ends);
void read_tasks(const std::vector<ConstBytes>& messages, std::vector<PartitionTask>& tasks,
                std::vector<std::size_t>& ends);

}  // namespace cpt
