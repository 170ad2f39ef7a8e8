// Reads a rank's part of a round and sends each example to the owners on its path: through shared memory to those on
// this machine, in a message to the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/buffer.h"
#include "model/learning/learner.h"
#include "model/learning/prefetchers.h"
#include "train/input/batch_reader.h"
#include "train/partitioned/ledger.h"
#include "train/partitioned/wire/messages.h"
#include "train/partitioned/wire/shared_example_ring.h"
#include "train/placement/ownership.h"

namespace cpt {

// Borrows the learner; its trees are those that all ranks have.
class Dispatcher {
 public:
  // Counts the features of what it reads, if `learner` does. `copies_of`: this rank, if every rank has copies of the
  // roots.
  Dispatcher(Learner& learner, int ranks, std::optional<int> copies_of = std::nullopt)
      : learner_(learner),
        copies_of_(copies_of),
        labels_(learner.labels(), learner.trees(), kPrefetchFactor),
        writers_(static_cast<std::size_t>(ranks)) {}

  // Where the examples go.
  struct Destinations {
    const Owners& owners;
    SharedExampleRing& ring;        // this rank's
    std::vector<Buffer>& messages;  // those for rank r are appended to messages[r]
  };
  // Sends the next examples before `end`, whose positions are `first` or more. The owners of roots get all of them; if
  // every rank has copies of the roots, only those whose label is unknown here, and this rank keeps the others.
  // Fills in the fields of the header that describe the examples, and adds the examples to the ledger.
  void read(BatchReader& reader, std::uint64_t first, const StreamOffset& end, const Destinations& to,
            RoundHeader& header, RoundLedger& ledger, bool learning);

 private:
  // Sending an example takes a tenth of the time of learning it, so labels are prefetched further ahead.
  static constexpr std::size_t kPrefetchFactor = 4;
  static constexpr std::size_t kCountsAhead = 8;  // examples

  void send(const ExampleView& x, std::size_t tree, RoutedExample& example, const Destinations& to);

  Learner& learner_;
  std::optional<int> copies_of_;
  LabelPrefetcher labels_;
  std::vector<ExampleWriter> writers_;  // by rank
  std::vector<std::uint8_t> path_;      // of the current example, as far as the current tree knows it
  std::vector<Rarity> rarities_;        // of the current example
};

}  // namespace cpt
