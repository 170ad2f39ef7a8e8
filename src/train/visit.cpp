#include "train/visit.h"

#include <cstring>

#include "cpt/error.h"

namespace cpt {

namespace {

constexpr std::uint64_t kPositionBits = 20;
constexpr std::uint64_t kShardBits = 22;
constexpr std::uint64_t kLineBits = 22;

struct VisitHead {
  std::uint64_t order;
  std::uint32_t slot;
  LabelId label;
  std::uint64_t coins;
  double probability;
  LabelId split;
  std::uint32_t disagreements;
  Partition partition;
  VisitKind kind;
  std::uint8_t has_example;
  std::uint32_t unused;
};
static_assert(sizeof(VisitHead) == 48);

std::uint64_t field(std::uint64_t value, std::uint64_t bits, const char* what) {
  if (value >> bits == 0) return value;
  throw Error(Fault::kFailed, "more than " + std::to_string(std::uint64_t{1} << bits) + " " + what);
}

template <class Head>
Head read_head(ConstBytes message, std::size_t at) {
  Head head;
  std::memcpy(&head, message.data() + at, sizeof head);
  return head;
}

}  // namespace

std::uint64_t make_order(std::uint64_t position, std::uint64_t shard, std::uint64_t index_in_line) {
  const std::uint64_t high =
      field(position, kPositionBits, "lines of a shard in a round") << kShardBits | field(shard, kShardBits, "shards");
  return high << kLineBits | field(index_in_line, kLineBits, "examples on a line");
}

std::uint64_t position_in_round(std::uint64_t order) { return order >> (kShardBits + kLineBits); }
std::uint64_t shard_of(std::uint64_t order) { return order >> kLineBits & ((std::uint64_t{1} << kShardBits) - 1); }
std::uint64_t index_in_line(std::uint64_t order) { return order & ((std::uint64_t{1} << kLineBits) - 1); }

void Arrival::lead_by(std::span<const std::uint8_t> places) {
  if (places.size() > 1) level1 = partition_below(kRootPartition, 0, places[0]);
  if (places.size() > 2) deep = partition_below(level1, 1, places[1]);
}

void VisitWriter::append(const Visit& visit) {
  VisitHead wire{};
  wire.order = visit.order;
  wire.slot = visit.slot;
  wire.label = visit.label;
  wire.coins = visit.coins;
  wire.probability = visit.probability;
  wire.split = visit.split;
  wire.disagreements = visit.disagreements;
  wire.partition = visit.partition;
  wire.kind = visit.kind;
  wire.has_example = visit.order != last_order_ ? 1 : 0;
  message_->append(&wire, sizeof wire);
  if (wire.has_example != 0) ExampleRecord::append(visit.example.view(), {}, {}, *message_);
  last_order_ = visit.order;
}

void read_visits(ConstBytes message, std::vector<Visit>& visits) {
  ExampleRecord example;
  for (std::size_t at = 0; at < message.size();) {
    const auto wire = read_head<VisitHead>(message, at);
    at += sizeof wire;
    if (wire.has_example != 0) {
      example = ExampleRecord(message.data() + at);
      at += example.bytes();
    }
    visits.push_back({.order = wire.order,
                      .slot = wire.slot,
                      .label = wire.label,
                      .kind = wire.kind,
                      .partition = wire.partition,
                      .disagreements = wire.disagreements,
                      .split = wire.split,
                      .coins = wire.coins,
                      .probability = wire.probability,
                      .example = example});
  }
}

}  // namespace cpt
