#include "train/partitioned/wire/messages.h"

#include <cstring>
#include <new>
#include <string>

#include "core/checked.h"
#include "cpt/options.h"

namespace cpt {

namespace {

constexpr std::size_t kUnit = ExampleRecord::kAlignment;  // offsets count these

constexpr std::size_t kHeadsAhead = 64;  // to prefetch in the ring: heads are read faster than memory answers

// Leads the record of a routed example.
struct RoutedHead {
  std::uint64_t order;
  std::uint32_t slot;
  LabelId label;
  Partition level1;
  Partition deep;
  std::uint32_t tree;
};
static_assert(sizeof(RoutedHead) % kUnit == 0);

struct TaskHead {
  std::uint8_t kind;
  std::uint8_t carries_example;
  Partition partition;
  std::uint32_t disagreements;
};
static_assert(sizeof(TaskHead) % kUnit == 0);

// Leads the record of a task's example.
struct TaskExampleHead {
  std::uint64_t order;
  std::uint32_t slot;
  LabelId label;
  std::uint64_t reader;
};
static_assert(sizeof(TaskExampleHead) % kUnit == 0);

// Of some model: the owner knows how many partitions this one has.
constexpr Partition kMostPartitions = root_partition(kMostTrees);

void require_partition_or_none(Partition partition) {
  if (partition >= kMostPartitions && partition != kNoPartition)
    throw_protocol_error("unknown partition " + std::to_string(partition));
}

template <class T>
void put(const T& value, Buffer& message) {
  message.append(&value, sizeof value);
}

void put_details(const PartitionTask& task, Buffer& message) {
  switch (task.kind) {
    case TaskKind::kDraw:
      put(task.coins, message);
      return put(task.probability, message);
    case TaskKind::kSearch:
      put(task.probability, message);
      return put(task.least, message);
    case TaskKind::kKnown:
      return;
    case TaskKind::kInsert:
      return put(task.coins, message);
    case TaskKind::kOpen:
      return put(std::uint64_t{task.split}, message);
  }
}

void take_details(ConstBytes& message, PartitionTask& task) {
  const TaskKind kind = task.kind;
  if (kind == TaskKind::kDraw || kind == TaskKind::kInsert) task.coins = take_header<std::uint64_t>(message);
  if (kind == TaskKind::kDraw || kind == TaskKind::kSearch) task.probability = take_header<double>(message);
  if (kind == TaskKind::kSearch) task.least = take_header<double>(message);
  if (kind == TaskKind::kOpen)
    task.split = narrow<LabelId>(take_header<std::uint64_t>(message), "the number of a label");
}

PartitionTask take_task(ConstBytes& message, const PartitionTask& last) {
  const auto head = take_header<TaskHead>(message);
  PartitionTask task{
      .order = last.order, .slot = last.slot, .label = last.label, .reader = last.reader, .example = last.example};
  if (head.kind > static_cast<unsigned>(TaskKind::kOpen)) {
    throw_protocol_error("unknown kind of task " + std::to_string(head.kind));
  }
  if (head.partition >= kMostPartitions || partition_level(head.partition) == 0)
    throw_protocol_error("a task for partition " + std::to_string(head.partition));
  task.kind = static_cast<TaskKind>(head.kind);
  task.partition = head.partition;
  task.disagreements = head.disagreements;
  take_details(message, task);
  if (head.carries_example != 0) {
    const auto example = take_header<TaskExampleHead>(message);
    task.order = example.order;
    task.slot = example.slot;
    task.label = example.label;
    task.reader = narrow<ReaderRank>(example.reader, "the number of a rank");
    task.example = ExampleRecord(take_bytes(message, ExampleRecord::checked_bytes(message)).data());
  }
  if (!task.example.exists()) throw_protocol_error("a message begins with a task without an example");
  return task;
}

// Of an example that was just read.
void place_in_round(const ExamplesMessage& message, RoutedExample& example) {
  if (example.slot >= message.examples) {
    throw_protocol_error("slot " + std::to_string(example.slot) + " of " + std::to_string(message.examples) +
                         " examples");
  }
  example.reader = message.reader;
}

// `offsets`: of examples in their sender's ring.
void read_ring(ConstBytes offsets, const ExamplesMessage& message, std::vector<RoutedExample>& examples) {
  const ConstBytes ring = message.ring;
  const std::size_t count = offsets.size() / sizeof(std::uint32_t);
  if (count > 0 && ring.empty()) throw_protocol_error("examples in a ring that this rank does not read");
  examples.reserve(examples.size() + count);
  const auto offset = [&](std::size_t i) {
    return read_front<std::uint32_t>(offsets.subspan(i * sizeof(std::uint32_t))) * kUnit;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kHeadsAhead < count) {
      const std::byte* ahead = ring.data() + offset(i + kHeadsAhead);
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + sizeof(RoutedHead) + ExampleRecord::kLeastBytes - 1);
    }
    if (offset(i) > ring.size()) throw_protocol_error("an example beyond the end of a ring");
    RoutedExample& example = examples.emplace_back();
    read_routed(ring.subspan(offset(i)), example);
    place_in_round(message, example);
  }
}

}  // namespace

ConstBytes take_bytes(ConstBytes& message, std::uint64_t count) {
  if (count > message.size()) {
    throw_protocol_error("a message lacks " + std::to_string(count - message.size()) + " bytes");
  }
  const ConstBytes taken = message.first(count);
  message = message.subspan(count);
  return taken;
}

std::size_t routed_bytes(const ExampleRecord::Shape& shape) { return sizeof(RoutedHead) + ExampleRecord::bytes(shape); }

void write_routed(const RoutedExample& head, const ExampleRecord::Shape& shape, const ExampleRecord::Parts& parts,
                  std::byte* at) {
  new (at) RoutedHead{head.order, head.slot, head.label, head.level1, head.deep, head.tree};
  ExampleRecord::write(shape, parts, at + sizeof(RoutedHead));
}

std::size_t read_routed(ConstBytes from, RoutedExample& example) {
  if (from.size() < sizeof(RoutedHead)) throw_protocol_error("an example is cut short");
  const auto& head = *reinterpret_cast<const RoutedHead*>(from.data());
  require_partition_or_none(head.level1);
  require_partition_or_none(head.deep);
  const std::size_t record_bytes = ExampleRecord::checked_bytes(from.subspan(sizeof head));
  example.order = head.order;
  example.slot = head.slot;
  example.label = head.label;
  example.tree = head.tree;
  example.level1 = head.level1;
  example.deep = head.deep;
  example.example = ExampleRecord(from.data() + sizeof head);
  return sizeof head + record_bytes;
}

void ExampleWriter::begin(Buffer& message) {
  message_ = &message;
  begin_ = message.size();
  message.extend(sizeof(std::uint64_t));
  offsets_.clear();
}

void ExampleWriter::append(const RoutedExample& head, const ExampleRecord::Parts& parts) {
  const ExampleRecord::Shape shape = ExampleRecord::shape_of(parts);
  write_routed(head, shape, parts, message_->extend(routed_bytes(shape)).data());
}

void ExampleWriter::end() {
  const std::uint64_t count = offsets_.size();
  std::memcpy(message_->data() + begin_, &count, sizeof count);
  message_->append(offsets_.data(), offsets_.size() * sizeof(std::uint32_t));
}

void TaskWriter::append(const PartitionTask& task) {
  const bool carries = task.order != last_order_;
  put(TaskHead{static_cast<std::uint8_t>(task.kind), static_cast<std::uint8_t>(carries ? 1 : 0), task.partition,
               task.disagreements},
      *message_);
  put_details(task, *message_);
  last_order_ = task.order;
  if (!carries) return;
  put(TaskExampleHead{task.order, task.slot, task.label, task.reader}, *message_);
  // Without path: a sender that knows the path has already sent the example to all owners on it.
  const ExampleView x = task.example.view();
  const ExampleRecord::Parts parts{x, {}, {}, task.example.rarities()};
  const ExampleRecord::Shape shape = ExampleRecord::shape_of(parts);
  ExampleRecord::write(shape, parts, message_->extend(ExampleRecord::bytes(shape)).data());
}

void read_examples(const std::vector<ExamplesMessage>& messages, std::vector<RoutedExample>& examples,
                   std::vector<std::size_t>& ends) {
  for (const ExamplesMessage& message : messages) {
    ConstBytes rest = message.bytes;
    const auto in_ring = take_header<std::uint64_t>(rest);
    if (in_ring > rest.size() / sizeof(std::uint32_t)) throw_protocol_error("offsets are missing");
    const ConstBytes offsets = rest.last(in_ring * sizeof(std::uint32_t));
    read_ring(offsets, message, examples);
    for (ConstBytes inlined = rest.first(rest.size() - offsets.size()); !inlined.empty();) {
      RoutedExample& example = examples.emplace_back();
      take_bytes(inlined, read_routed(inlined, example));
      place_in_round(message, example);
    }
    ends.push_back(examples.size());
  }
}

void read_tasks(const std::vector<ConstBytes>& messages, std::vector<PartitionTask>& tasks,
                std::vector<std::size_t>& ends) {
  for (ConstBytes message : messages) {
    PartitionTask last{.example = {}};
    while (!message.empty()) tasks.push_back(last = take_task(message, last));
    ends.push_back(tasks.size());
  }
}

}  // namespace cpt
