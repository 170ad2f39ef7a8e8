// The rows that ranks send one another in a merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/shared/shared_window.h"
#include "model/weights/weight_table.h"

namespace cpt {

struct RowRecord {
  std::uint64_t index;
  Row row;
};
static_assert(sizeof(RowRecord) == 72);

using RowRecords = std::span<const RowRecord>;
using RecordsOfRanks = std::vector<RowRecords>;  // by rank

// Exchanges records again and again. A rank writes its records into room(), where the other ranks of its host read them
// in place; ranks of other hosts get messages. Borrows the communicator.
class RowExchange {
 public:
  // Collective. Shared memory holds `most` records of each rank, equal on all ranks. A rank with more, or without
  // shared memory, sends all as messages.
  RowExchange(Communicator& comm, std::uint64_t most);

  // Memory for this many records of the next exchange, the same as for the last one: before this call, every rank must
  // have read the records of the last exchange, and then sent this rank a message.
  std::span<RowRecord> room(std::uint64_t records);

  // Collective. Sends rank r the records outgoing[r], which lie in room(). Returns what each rank sent to this one,
  // valid until the sender calls room() again or, if it came as a message, until the next exchange. `call` names the
  // exchange in errors. Each rank sends 16 bytes per rank to every other, and 72 per record not read in place.
  RecordsOfRanks exchange(const RecordsOfRanks& outgoing, const char* call);

 private:
  // The announcement of the records that a rank sends to another.
  struct Announcement {
    std::uint64_t records;
    std::uint64_t first;  // their index in shared memory; kNotShared: a message
  };
  static constexpr std::uint64_t kNotShared = ~std::uint64_t{0};

  std::span<RowRecord> shared() const;
  std::uint64_t offset_of(RowRecords records) const;
  RowRecords read_in_place(std::size_t rank, const Announcement& announced) const;

  Communicator& comm_;
  SharedWindow window_;
  std::vector<RowRecord> private_;                  // for more than shared memory holds
  std::vector<std::vector<RowRecord>> from_ranks_;  // of messages, by sender; only the first are in use
};

}  // namespace cpt
