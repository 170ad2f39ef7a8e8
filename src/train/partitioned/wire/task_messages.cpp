#include "train/partitioned/wire/task_messages.h"

#include <cstring>
#include <string>

#include "core/checked.h"
#include "cpt/error.h"
#include "train/partitioned/example/shared_example_ring.h"

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

std::byte* put_details(std::byte* out, const PartitionTask& task) {
  switch (task.kind) {
    case TaskKind::kDraw:
      return put_value(put_value(out, task.coins), task.probability);
    case TaskKind::kSearch:
      return put_value(out, task.probability);
    case TaskKind::kKnown:
      return out;
    case TaskKind::kSettle:
      return put_varint(put_value(out, task.coins), task.disagreements);
    case TaskKind::kOpen:
      return put_varint(put_varint(out, task.split), task.disagreements);
  }
  return out;
}

void take_details(ByteReader& in, PartitionTask& task) {
  const TaskKind kind = task.kind;
  if (kind == TaskKind::kDraw || kind == TaskKind::kSettle) task.coins = in.value<std::uint64_t>();
  if (kind == TaskKind::kDraw || kind == TaskKind::kSearch) task.probability = in.value<double>();
  if (kind == TaskKind::kOpen) task.split = narrow<LabelId>(in.varint(), "the number of a label");
  if (kind == TaskKind::kSettle || kind == TaskKind::kOpen) {
    task.disagreements = narrow<std::uint32_t>(in.varint(), "disagreements");
  }
}

void append(const std::byte* begin, const std::byte* end, Buffer& message) {
  message.append(begin, static_cast<std::size_t>(end - begin));
}

// Arrivals whose examples lie on their sender's shelf.
void read_placed(ByteReader& in, std::size_t count, const ArrivalMessage& message,
                 std::vector<RoutedExample>& routed_examples) {
  if (count > 0 && message.shelf.empty()) throw Error(Fault::kFailed, "a message tells of a shelf that is not there");
  const std::byte* places = in.take(count * sizeof(std::uint32_t));
  const auto place = [&](std::size_t i) {
    std::uint32_t value;
    std::memcpy(&value, places + i * sizeof value, sizeof value);
    return value;
  };
  routed_examples.reserve(routed_examples.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kHeadsAhead < count) SharedExampleRing::prefetch(message.shelf, place(i + kHeadsAhead));
    RoutedExample& arrival = routed_examples.emplace_back();
    SharedExampleRing::get(message.shelf, place(i), arrival);
    arrival.slot += message.first_slot;
  }
}

}  // namespace

void ExampleWriter::begin(Buffer& message) {
  message_ = &message;
  begin_ = message.size();
  message.extend(sizeof(PlacedCount));
  last_ = {};
  places_.clear();
}

void ExampleWriter::append(const RoutedExample& head, const ExampleView& x, std::span<const std::uint8_t> places,
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

void ExampleWriter::end() {
  const auto count = narrow<PlacedCount>(places_.size(), "the examples of a round");
  put_value(message_->data() + begin_, count);
  message_->append(places_.data(), places_.size() * sizeof(std::uint32_t));
}

void TaskWriter::append(const PartitionTask& task) {
  std::byte bytes[8 * kMostVarintBytes];
  const bool carries = task.order != last_order_;
  std::byte* out = bytes;
  *out++ = static_cast<std::byte>(static_cast<unsigned>(task.kind) | (carries ? kCarriesExample : 0));
  out = put_value(out, task.partition);
  out = put_details(out, task);
  if (carries) {
    out = put_value(out, task.order);
    out = put_varint(out, task.slot);
    out = put_varint(out, label_code(task.label));
  }
  cpt::append(bytes, out, *message_);
  if (carries) pack_example(task.example.view(), {}, *message_);
  last_order_ = task.order;
}

// Examples that travelled get their addresses when all of them are there.
void MessageReader::read_examples(const std::vector<ArrivalMessage>& messages,
                                  std::vector<RoutedExample>& routed_examples, std::vector<std::size_t>& ends) {
  const std::size_t first = routed_examples.size();
  std::size_t unpacked = examples_.offsets.size();
  for (const ArrivalMessage& message : messages) {
    ByteReader in(message.bytes);
    const auto placed = in.value<PlacedCount>();
    const ConstBytes packed = in.all_but_last(placed * sizeof(std::uint32_t));
    read_placed(in, placed, message, routed_examples);
    read_packed(ByteReader(packed), message.first_slot, routed_examples);
    ends.push_back(routed_examples.size());
  }
  for (std::size_t i = first; i < routed_examples.size(); ++i) {
    if (routed_examples[i].example.exists()) continue;
    routed_examples[i].example = examples_[unpacked++];
    routed_examples[i].lead_by(routed_examples[i].example.places());
  }
}

void MessageReader::read_packed(ByteReader in, std::uint32_t first_slot, std::vector<RoutedExample>& routed_examples) {
  RoutedExample last{.slot = first_slot, .example = {}};
  for (; !in.at_end(); routed_examples.push_back(last)) last = read_packed(in, last);
}

RoutedExample MessageReader::read_packed(ByteReader& in, const RoutedExample& last) {
  RoutedExample arrival;
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

PartitionTask MessageReader::read_visit(ByteReader& in, const PartitionTask& last) {
  const auto code = in.value<std::uint8_t>();
  PartitionTask task{.order = last.order, .slot = last.slot, .label = last.label, .example = {}};
  task.kind = static_cast<TaskKind>(code % kCarriesExample);
  task.partition = in.value<Partition>();
  require_partition(task.partition);
  if (task.kind > TaskKind::kOpen || task.partition == kNoPartition) {
    throw Error(Fault::kFailed, "a message tells of a task of kind " + std::to_string(code % kCarriesExample) +
                                    " to partition " + std::to_string(task.partition));
  }
  take_details(in, task);
  if (code >= kCarriesExample) {
    task.order = in.value<std::uint64_t>();
    task.slot = narrow<std::uint32_t>(in.varint(), "the slot of an example");
    task.label = label_of(in.varint());
    unpack_example(in, {}, examples_);
  }
  return task;
}

void MessageReader::read_tasks(const std::vector<ConstBytes>& messages, std::vector<PartitionTask>& tasks,
                               std::vector<std::size_t>& ends) {
  const std::size_t first = tasks.size();
  std::vector<std::size_t> example_of;  // by task
  for (const ConstBytes message : messages) {
    PartitionTask last;
    const std::size_t before = examples_.offsets.size();
    for (ByteReader in(message); !in.at_end(); tasks.push_back(last)) {
      last = read_visit(in, last);
      if (examples_.offsets.size() == before) throw Error(Fault::kFailed, "a message begins with a task of no example");
      example_of.push_back(examples_.offsets.size() - 1);
    }
    ends.push_back(tasks.size());
  }
  for (std::size_t i = first; i < tasks.size(); ++i) tasks[i].example = examples_[example_of[i - first]];
}

}  // namespace cpt
