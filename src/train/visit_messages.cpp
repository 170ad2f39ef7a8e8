#include "train/visit_messages.h"

#include <cstring>
#include <string>

#include "core/checked.h"
#include "cpt/error.h"
#include "train/example_shelf.h"

namespace cpt {

namespace {

constexpr unsigned kCarriesExample = 128;

constexpr std::size_t kHeadsAhead = 64;  // to ask the memory for: they are read faster than it answers

using PlacedCount = std::uint32_t;

std::uint64_t label_code(LabelId label) { return label == kNoLabel ? 0 : std::uint64_t{label} + 1; }
LabelId label_of(std::uint64_t code) {
  return code == 0 ? kNoLabel : narrow<LabelId>(code - 1, "the number of a label");
}

void require_partition(Partition partition) {
  if (!is_partition_or_none(partition)) {
    throw Error(Fault::kFailed, "a message tells of partition " + std::to_string(partition));
  }
}

std::byte* put_details(std::byte* out, const Visit& visit) {
  switch (visit.kind) {
    case VisitKind::kDraw:
      return put_value(put_value(out, visit.coins), visit.probability);
    case VisitKind::kSearch:
      return put_value(out, visit.probability);
    case VisitKind::kKnown:
      return out;
    case VisitKind::kSettle:
      return put_varint(put_value(out, visit.coins), visit.disagreements);
    case VisitKind::kOpen:
      return put_varint(put_varint(out, visit.split), visit.disagreements);
  }
  return out;
}

void take_details(ByteReader& in, Visit& visit) {
  const VisitKind kind = visit.kind;
  if (kind == VisitKind::kDraw || kind == VisitKind::kSettle) visit.coins = in.value<std::uint64_t>();
  if (kind == VisitKind::kDraw || kind == VisitKind::kSearch) visit.probability = in.value<double>();
  if (kind == VisitKind::kOpen) visit.split = narrow<LabelId>(in.varint(), "the number of a label");
  if (kind == VisitKind::kSettle || kind == VisitKind::kOpen) {
    visit.disagreements = narrow<std::uint32_t>(in.varint(), "disagreements");
  }
}

void append(const std::byte* begin, const std::byte* end, Buffer& message) {
  message.append(begin, static_cast<std::size_t>(end - begin));
}

// Arrivals whose examples lie on their sender's shelf.
void read_placed(ByteReader& in, std::size_t count, const ArrivalMessage& message, std::vector<Arrival>& arrivals) {
  if (count > 0 && message.shelf.empty()) throw Error(Fault::kFailed, "a message tells of a shelf that is not there");
  const std::byte* places = in.take(count * sizeof(std::uint32_t));
  const auto place = [&](std::size_t i) {
    std::uint32_t value;
    std::memcpy(&value, places + i * sizeof value, sizeof value);
    return value;
  };
  arrivals.reserve(arrivals.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kHeadsAhead < count) ExampleShelf::prefetch(message.shelf, place(i + kHeadsAhead));
    Arrival& arrival = arrivals.emplace_back();
    ExampleShelf::get(message.shelf, place(i), arrival);
    arrival.slot += message.first_slot;
  }
}

}  // namespace

void ArrivalWriter::begin(Buffer& message) {
  message_ = &message;
  begin_ = message.size();
  message.extend(sizeof(PlacedCount));
  last_ = {};
  places_.clear();
}

void ArrivalWriter::append(const Arrival& head, const ExampleView& x, std::span<const std::uint8_t> places,
                           std::string_view name) {
  std::byte bytes[6 * kMostVarintBytes];
  std::byte* out = put_varint(bytes, position_in_round(head.order) - position_in_round(last_.order));
  out = put_varint(out, shard_of(head.order));
  out = put_varint(out, index_in_line(head.order));
  out = put_varint(out, head.slot - last_.slot);
  out = put_varint(out, label_code(head.label));
  if (head.label == kNoLabel) out = put_varint(out, name.size());
  last_ = head;
  cpt::append(bytes, out, *message_);
  if (head.label == kNoLabel) message_->append(name.data(), name.size());
  pack_example(x, places, *message_);
}

void ArrivalWriter::end() {
  const auto count = narrow<PlacedCount>(places_.size(), "the examples of a round");
  put_value(message_->data() + begin_, count);
  message_->append(places_.data(), places_.size() * sizeof(std::uint32_t));
}

void VisitWriter::append(const Visit& visit) {
  std::byte bytes[8 * kMostVarintBytes];
  const bool carries = visit.order != last_order_;
  std::byte* out = bytes;
  *out++ = static_cast<std::byte>(static_cast<unsigned>(visit.kind) | (carries ? kCarriesExample : 0));
  out = put_value(out, visit.partition);
  out = put_details(out, visit);
  if (carries) {
    out = put_value(out, visit.order);
    out = put_varint(out, visit.slot);
    out = put_varint(out, label_code(visit.label));
  }
  cpt::append(bytes, out, *message_);
  if (carries) pack_example(visit.example.view(), {}, *message_);
  last_order_ = visit.order;
}

// Examples that travelled get their addresses when all of them are there.
void MessageReader::read_arrivals(const std::vector<ArrivalMessage>& messages, std::vector<Arrival>& arrivals,
                                  std::vector<std::size_t>& ends) {
  const std::size_t first = arrivals.size();
  std::size_t unpacked = examples_.offsets.size();
  for (const ArrivalMessage& message : messages) {
    ByteReader in(message.bytes);
    const auto placed = in.value<PlacedCount>();
    const ConstBytes packed = in.all_but_last(placed * sizeof(std::uint32_t));
    read_placed(in, placed, message, arrivals);
    read_packed(ByteReader(packed), message.first_slot, arrivals);
    ends.push_back(arrivals.size());
  }
  for (std::size_t i = first; i < arrivals.size(); ++i) {
    if (arrivals[i].example.exists()) continue;
    arrivals[i].example = examples_[unpacked++];
    arrivals[i].lead_by(arrivals[i].example.places());
  }
}

void MessageReader::read_packed(ByteReader in, std::uint32_t first_slot, std::vector<Arrival>& arrivals) {
  Arrival last{.slot = first_slot, .example = {}};
  for (; !in.at_end(); arrivals.push_back(last)) last = read_packed(in, last);
}

Arrival MessageReader::read_packed(ByteReader& in, const Arrival& last) {
  Arrival arrival;
  const std::uint64_t position = position_in_round(last.order) + in.varint();
  const std::uint64_t shard = in.varint();
  arrival.order = make_order(position, shard, in.varint());
  arrival.slot = last.slot + narrow<std::uint32_t>(in.varint(), "the slot of an example");
  arrival.label = label_of(in.varint());
  std::string_view name;
  if (arrival.label == kNoLabel) {
    const std::size_t length = in.varint();
    name = {reinterpret_cast<const char*>(in.take(length)), length};
  }
  unpack_example(in, name, examples_);
  return arrival;
}

Visit MessageReader::read_visit(ByteReader& in, const Visit& last) {
  const auto code = in.value<std::uint8_t>();
  Visit visit{.order = last.order, .slot = last.slot, .label = last.label, .example = {}};
  visit.kind = static_cast<VisitKind>(code % kCarriesExample);
  visit.partition = in.value<Partition>();
  require_partition(visit.partition);
  if (visit.kind > VisitKind::kOpen || visit.partition == kNoPartition) {
    throw Error(Fault::kFailed, "a message tells of a visit of kind " + std::to_string(code % kCarriesExample) +
                                    " to partition " + std::to_string(visit.partition));
  }
  take_details(in, visit);
  if (code >= kCarriesExample) {
    visit.order = in.value<std::uint64_t>();
    visit.slot = narrow<std::uint32_t>(in.varint(), "the slot of an example");
    visit.label = label_of(in.varint());
    unpack_example(in, {}, examples_);
  }
  return visit;
}

void MessageReader::read_visits(const std::vector<ConstBytes>& messages, std::vector<Visit>& visits,
                                std::vector<std::size_t>& ends) {
  const std::size_t first = visits.size();
  std::vector<std::size_t> example_of;  // by visit
  for (const ConstBytes message : messages) {
    Visit last;
    const std::size_t before = examples_.offsets.size();
    for (ByteReader in(message); !in.at_end(); visits.push_back(last)) {
      last = read_visit(in, last);
      if (examples_.offsets.size() == before)
        throw Error(Fault::kFailed, "a message begins with a visit of no example");
      example_of.push_back(examples_.offsets.size() - 1);
    }
    ends.push_back(visits.size());
  }
  for (std::size_t i = first; i < visits.size(); ++i) visits[i].example = examples_[example_of[i - first]];
}

}  // namespace cpt
