// Messages of examples and tasks are read as they were written, and nothing is read past their ends.
#include "train/partitioned/wire/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cpt/error.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

constexpr std::size_t kExamples = 200;

// Binary ones, ones with values of both signs, weights; one without features, one longer than most.
Batch all_sorts() {
  Batch batch;
  Dice dice(3);
  for (std::size_t i = 0; i < kExamples; ++i) {
    const std::size_t features = i == 7 ? 0 : i == 8 ? 6000 : 1 + dice.below(40);
    for (std::size_t f = 0; f < features; ++f) {
      const bool one = i % 3 == 0 || dice.chance(0.5);
      batch.add_feature(mix(1000 * i + f), one ? 1.0F : static_cast<float>(dice.between(-3, 3)));
    }
    batch.finish_example(label_number(i), i % 4 == 0 ? 2.5F : 1.0F, {});
  }
  return batch;
}

std::vector<std::uint8_t> path_of(std::size_t i) {
  std::vector<std::uint8_t> places;
  for (std::size_t hop = 0; hop < i % 5; ++hop) places.push_back(static_cast<std::uint8_t>(16 + (i + hop) % 16));
  return places;
}

template <class T>
std::vector<T> listed(std::span<const T> values) {
  return {values.begin(), values.end()};
}

void expect_same_example(const ExampleRecord& record, const ExampleView& x) {
  EXPECT_EQ(listed(record.view().features), listed(x.features));
  EXPECT_EQ(listed(record.view().values), listed(x.values));
  EXPECT_EQ(record.view().importance, x.importance);
  EXPECT_EQ(record.importance(), x.importance);
}

RoutedExample head_of(std::size_t i) {
  RoutedExample head;
  head.order = make_order(i / 3, i % 3, i % 2);
  head.slot = static_cast<std::uint32_t>(2 * i);
  head.label = i % 4 == 1 ? kNoLabel : static_cast<LabelId>(i * 1000);
  head.route_by(path_of(i));
  return head;
}

Buffer message_of_examples(const Batch& batch) {
  Buffer message;
  ExampleWriter writer;
  writer.begin(message);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::vector<std::uint8_t> path = path_of(i);
    writer.append(head_of(i), {batch[i], path, head_of(i).label == kNoLabel ? batch[i].label : std::string_view{}});
  }
  writer.end();
  return message;
}

TEST(RoutedExamples, ComeAsTheyWereSent) {
  const Batch batch = all_sorts();
  const Buffer one = message_of_examples(batch);
  const Buffer none = message_of_examples(Batch());
  const Buffer other = message_of_examples(batch);
  std::vector<RoutedExample> routed_examples;
  std::vector<std::size_t> ends;
  read_examples({{.bytes = one.bytes(), .examples = 2 * kExamples, .reader = 1},
                 {.bytes = none.bytes(), .examples = 0, .reader = 2},
                 {.bytes = other.bytes(), .examples = 2 * kExamples, .reader = 3}},
                routed_examples, ends);
  EXPECT_EQ(ends, (std::vector<std::size_t>{kExamples, kExamples, 2 * kExamples}));
  for (std::size_t n = 0; n < routed_examples.size(); ++n) {
    const std::size_t i = n % kExamples;
    const RoutedExample head = head_of(i);
    EXPECT_EQ(routed_examples[n].order, head.order);
    EXPECT_EQ(routed_examples[n].slot, head.slot);
    EXPECT_EQ(routed_examples[n].reader, n < kExamples ? 1U : 3U);
    EXPECT_EQ(routed_examples[n].label, head.label);
    EXPECT_EQ(routed_examples[n].example.label(), head.label == kNoLabel ? batch[i].label : std::string_view{});
    const std::vector<std::uint8_t> places = path_of(i);
    EXPECT_EQ(listed(routed_examples[n].example.path()), places);
    EXPECT_EQ(routed_examples[n].level1, places.size() > 1 ? places[0] - 15 : kNoPartition);
    EXPECT_EQ(routed_examples[n].deep, places.size() > 2 ? 17 + 16 * (places[0] - 16) + places[1] - 16 : kNoPartition);
    expect_same_example(routed_examples[n].example, batch[i]);
  }
}

template <class Read>
void expect_protocol_error(Read read) {
  try {
    read();
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    EXPECT_EQ(std::string(error.what()).rfind("protocol error: ", 0), 0U) << error.what();
  }
}

std::size_t count_examples(ConstBytes message, std::uint64_t examples, ConstBytes ring = {}) {
  std::vector<RoutedExample> routed;
  std::vector<std::size_t> ends;
  read_examples({{.bytes = message, .examples = examples, .ring = ring}}, routed, ends);
  return routed.size();
}

Buffer message_of_one(const RoutedExample& head, const std::vector<std::uint8_t>& path = path_of(4)) {
  Batch batch;
  batch.add_feature(1, 0.5F);
  batch.finish_example("name", 3, {});
  Buffer message;
  ExampleWriter writer;
  writer.begin(message);
  writer.append(head, {batch[0], path, "name"});
  writer.end();
  return message;
}

TEST(RoutedExamples, CutShortAreRefused) {
  const Buffer message = message_of_one({.example = {}});
  for (std::size_t length = 0; length < message.size(); ++length) {
    if (length == sizeof(std::uint64_t)) continue;  // that is a message of no examples
    expect_protocol_error([&] { count_examples(ConstBytes(message.bytes()).first(length), 1); });
  }
}

TEST(RoutedExamples, OfSlotsThatTheirSenderDoesNotHaveAreRefused) {
  const Buffer message = message_of_one({.slot = 6, .example = {}});
  EXPECT_EQ(count_examples(message.bytes(), 7), 1U);
  expect_protocol_error([&] { count_examples(message.bytes(), 6); });
}

TEST(RoutedExamples, OfUnknownPositionsAreRefused) {
  EXPECT_EQ(count_examples(message_of_one({.example = {}}, {16, 31, 1}).bytes(), 1), 1U);
  for (const std::vector<std::uint8_t>& path :
       {std::vector<std::uint8_t>{0}, {32}, {255, 16}, {20, 0}, {20, 64}, {15, 16}}) {
    expect_protocol_error([&] { count_examples(message_of_one({.example = {}}, path).bytes(), 1); });
  }
}

// A record without values refers to a table of ones, which has an end.
TEST(RoutedExamples, OfTooManyFeaturesWithoutValuesAreRefused) {
  Buffer message = message_of_one({.example = {}});
  message.extend(8 * ExampleRecord::kMostOnes + 8);
  const std::uint32_t features = ExampleRecord::kMostOnes + 1;
  std::memcpy(message.data() + 8 + 24, &features, sizeof features);  // after the count of offsets and the head
  expect_protocol_error([&] { count_examples(message.bytes(), 1); });
}

class RingOffsets : public ::testing::Test {
 protected:
  RingOffsets() {
    ring_.resize(200);
    std::fill_n(ring_.data(), ring_.size(), std::byte{0});
  }

  static std::size_t read(const std::vector<std::uint32_t>& offsets, ConstBytes ring) {
    Buffer message;
    ExampleWriter writer;
    writer.begin(message);
    for (const std::uint32_t offset : offsets) writer.append(offset);
    writer.end();
    return count_examples(message.bytes(), 1, ring);
  }

  Buffer ring_;
};

TEST_F(RingOffsets, BeyondTheEndAreRefused) {
  EXPECT_EQ(read({0, 20}, ring_.bytes()), 2U);
  EXPECT_EQ(read({}, {}), 0U);
  expect_protocol_error([&] { read({0, 21}, ring_.bytes()); });  // a head, and half a record
  expect_protocol_error([&] { read({0xffffffff}, ring_.bytes()); });
  expect_protocol_error([&] { read({0}, {}); });
}

TEST_F(RingOffsets, OfRecordsThatReachBeyondTheEndAreRefused) {
  ring_.data()[24] = std::byte{100};  // features
  expect_protocol_error([&] { read({0}, ring_.bytes()); });
}

TEST_F(RingOffsets, OfUnknownPartitionsAreRefused) {
  ring_.data()[17] = std::byte{0x55};  // of the level-1 partition of the first one
  expect_protocol_error([&] { read({0}, ring_.bytes()); });
}

TEST_F(RingOffsets, OfWhichTheMessageHasFewerAreRefused) {
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{100}, ~std::uint64_t{0}}) {
    Buffer message;
    message.append(&count, sizeof count);
    expect_protocol_error([&] { count_examples(message.bytes(), 1, ring_.bytes()); });
  }
}

// Tasks of examples of a batch, as a rank has them: their records are in memory.
class Tasks : public ::testing::Test {
 protected:
  Tasks() {
    std::vector<std::size_t> ends;
    read_examples({{.bytes = message_.bytes(), .examples = 2 * kExamples}}, routed_examples_, ends);
  }

  PartitionTask task(std::size_t i, TaskKind kind) const {
    PartitionTask task;
    task.order = routed_examples_[i].order;
    task.slot = routed_examples_[i].slot;
    task.reader = static_cast<ReaderRank>(i % 5);
    task.label = routed_examples_[i].label;
    task.kind = kind;
    task.partition = static_cast<Partition>(i + 1);
    task.example = routed_examples_[i].example;
    return task;
  }

  Batch batch_ = all_sorts();
  Buffer message_ = message_of_examples(batch_);
  std::vector<RoutedExample> routed_examples_;
};

TEST_F(Tasks, OfAllKindsComeAsTheyWereSent) {
  std::vector<PartitionTask> sent;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    PartitionTask draw = task(i, TaskKind::kDraw);
    draw.coins = mix(i);
    draw.probability = 0.25;
    PartitionTask search = task(i, TaskKind::kSearch);
    search.probability = 1.0 / 3;
    search.least = 0.01;
    PartitionTask insert = task(i, TaskKind::kInsert);
    insert.coins = mix(i + 1);
    insert.disagreements = 300;
    PartitionTask open = task(i, TaskKind::kOpen);
    open.split = 123456;
    open.disagreements = 2;
    sent.insert(sent.end(), {draw, search, search, task(i, TaskKind::kKnown), insert, open});
  }
  Buffer message;
  TaskWriter writer(message);
  for (const PartitionTask& one : sent) writer.append(one);

  std::vector<PartitionTask> tasks;
  std::vector<std::size_t> ends;
  read_tasks({message.bytes()}, tasks, ends);
  ASSERT_EQ(tasks.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(tasks[i].order, sent[i].order);
    EXPECT_EQ(tasks[i].slot, sent[i].slot);
    EXPECT_EQ(tasks[i].reader, sent[i].reader);
    EXPECT_EQ(tasks[i].label, sent[i].label);
    EXPECT_EQ(tasks[i].kind, sent[i].kind);
    EXPECT_EQ(tasks[i].partition, sent[i].partition);
    EXPECT_EQ(tasks[i].coins, sent[i].coins);
    EXPECT_EQ(tasks[i].probability, sent[i].probability);
    EXPECT_EQ(tasks[i].least, sent[i].least);
    EXPECT_EQ(tasks[i].split, sent[i].split);
    EXPECT_EQ(tasks[i].disagreements, sent[i].disagreements);
    expect_same_example(tasks[i].example, batch_[i / 6]);
  }
}

TEST_F(Tasks, ThatMakeNoSenseAreRefused) {
  const auto message_of = [&](Partition partition) {
    PartitionTask one = task(0, TaskKind::kKnown);
    one.partition = partition;
    Buffer message;
    TaskWriter(message).append(one);
    return message;
  };
  const auto read_after_another = [&](ConstBytes message) {
    const Buffer other = message_of(1);
    std::vector<PartitionTask> tasks;
    std::vector<std::size_t> ends;
    read_tasks({other.bytes(), message}, tasks, ends);
  };
  Buffer message = message_of(kPartitions - 1);
  EXPECT_NO_THROW(read_after_another(message.bytes()));
  for (const Partition partition : {kRootPartition, static_cast<Partition>(kPartitions), kNoPartition}) {
    expect_protocol_error([&] { read_after_another(message_of(partition).bytes()); });
  }
  for (std::size_t length = 1; length < message.size(); ++length) {
    expect_protocol_error([&] { read_after_another(message.bytes().first(length)); });
  }
  message.bytes()[0] = std::byte{5};
  expect_protocol_error([&] { read_after_another(message.bytes()); });  // of no kind
  message.bytes()[0] = std::byte{static_cast<unsigned>(TaskKind::kKnown)};
  message.bytes()[1] = std::byte{0};
  expect_protocol_error([&] { read_after_another(message.bytes().first(8)); });  // of no example
}

// Features cross the wire once however many tasks an example makes, and values of 1 not at all.
TEST_F(Tasks, OfOneExampleCarryItOnce) {
  Buffer once;
  TaskWriter(once).append(task(0, TaskKind::kSearch));
  Buffer often;
  TaskWriter writer(often);
  for (int i = 0; i < 10; ++i) writer.append(task(0, TaskKind::kSearch));
  EXPECT_EQ(often.size() - once.size(), 9U * 3 * sizeof(double));
  EXPECT_LT(once.size(), batch_[0].features.size() * sizeof(FeatureHash) + 72);
}

}  // namespace
}  // namespace cpt
