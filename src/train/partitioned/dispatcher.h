// A rank as the origin of examples: it reads its part of a round and sends each example to the owners on its way, or
// tells those who read its shelf where it lies there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/buffer.h"
#include "model/learning/learner.h"
#include "model/learning/prefetchers.h"
#include "train/input/batch_reader.h"
#include "train/partitioned/example/shared_example_ring.h"
#include "train/partitioned/wire/partition_task.h"
#include "train/partitioned/wire/task_messages.h"
#include "train/placement/ownership.h"

namespace cpt {

// What a rank tells all others with its examples of a round.
struct RoundHeader {
  std::uint64_t examples = 0;       // that it has read
  std::uint64_t features = 0;       // of them together
  std::uint64_t fault = 0;          // encode_fault() of what it failed with
  std::uint64_t bad_lines = 0;      // it has skipped in this pass
  std::uint64_t active_shards = 0;  // that it had examples of
  std::uint64_t warning_bytes = 0;  // at the end of its message to rank 0
  std::uint64_t ended = 0;          // 1: there are no more
  std::uint64_t requests = 0;       // see RequestBits
};

// Borrows the learner, whose tree is the one that all ranks have heard of.
class Dispatcher {
 public:
  Dispatcher(const Learner& learner, int ranks)
      : learner_(learner),
        labels_(learner.labels(), learner.tree(), kQuickness),
        writers_(static_cast<std::size_t>(ranks)) {}

  // Where the examples go.
  struct Ways {
    const Owners& owners;
    SharedExampleRing& shelf;       // this rank's
    std::vector<Buffer>& messages;  // those for rank r are appended to messages[r]
  };
  // Examples of positions [first, end) become a round of the shelf, and messages. Rank 0 gets all of them, because it
  // owns the root. Fills in what news tells of the examples.
  void read(BatchReader& reader, std::uint64_t first, std::uint64_t end, const Ways& ways, RoundHeader& news);

 private:
  // To send an example takes a tenth of the time of learning it, but what it waits for lies as far.
  static constexpr std::size_t kQuickness = 4;

  void send(const ExampleView& x, RoutedExample& arrival, const Ways& ways);

  const Learner& learner_;
  LabelPrefetcher labels_;
  std::vector<ExampleWriter> writers_;  // by rank
  std::vector<std::uint8_t> places_;    // on the way of the example at hand, as far as it is known
};

}  // namespace cpt
