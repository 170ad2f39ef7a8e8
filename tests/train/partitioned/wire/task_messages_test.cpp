// What goes into a message of routed_examples or tasks comes out of it, and nothing is read past its end.
#include "train/partitioned/wire/task_messages.h"

#include <gtest/gtest.h>

#include <algorithm>

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

std::vector<std::uint8_t> places_of(std::size_t i) {
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
  return head;
}

Buffer arrivals_of(const Batch& batch) {
  Buffer message;
  ExampleWriter writer;
  writer.begin(message);
  for (std::size_t i = 0; i < batch.size(); ++i) writer.append(head_of(i), batch[i], places_of(i), batch[i].label);
  writer.end();
  return message;
}

TEST(Arrivals, ComeAsTheyWereSent) {
  const Batch batch = all_sorts();
  const Buffer one = arrivals_of(batch);
  const Buffer none = arrivals_of(Batch());
  const Buffer other = arrivals_of(batch);
  MessageReader reader;
  std::vector<RoutedExample> routed_examples;
  std::vector<std::size_t> ends;
  reader.read_examples({{.bytes = one.bytes(), .first_slot = 0},
                        {.bytes = none.bytes(), .first_slot = 500},
                        {.bytes = other.bytes(), .first_slot = 7000}},
                       routed_examples, ends);
  EXPECT_EQ(ends, (std::vector<std::size_t>{kExamples, kExamples, 2 * kExamples}));
  for (std::size_t n = 0; n < routed_examples.size(); ++n) {
    const std::size_t i = n % kExamples;
    const RoutedExample head = head_of(i);
    EXPECT_EQ(routed_examples[n].order, head.order);
    EXPECT_EQ(routed_examples[n].slot, head.slot + (n < kExamples ? 0 : 7000));
    EXPECT_EQ(routed_examples[n].label, head.label);
    EXPECT_EQ(routed_examples[n].example.label(), head.label == kNoLabel ? batch[i].label : std::string_view{});
    const std::vector<std::uint8_t> places = places_of(i);
    EXPECT_EQ(listed(routed_examples[n].example.places()), places);
    EXPECT_EQ(routed_examples[n].level1, places.size() > 1 ? places[0] - 15 : kNoPartition);
    EXPECT_EQ(routed_examples[n].deep, places.size() > 2 ? 17 + 16 * (places[0] - 16) + places[1] - 16 : kNoPartition);
    expect_same_example(routed_examples[n].example, batch[i]);
  }
}

TEST(Arrivals, CutShortAreRefused) {
  Batch batch;
  batch.add_feature(1, 0.5F);
  batch.finish_example("name", 3, {});
  RoutedExample head;
  Buffer message;
  ExampleWriter writer;
  writer.begin(message);
  writer.append(head, batch[0], places_of(4), "name");
  writer.end();
  for (std::size_t length = 1; length < message.size(); ++length) {
    if (length == sizeof(std::uint32_t)) continue;  // that is a message of no routed_examples
    MessageReader reader;
    std::vector<RoutedExample> routed_examples;
    std::vector<std::size_t> ends;
    EXPECT_THROW(reader.read_examples({{.bytes = ConstBytes(message.bytes()).first(length)}}, routed_examples, ends),
                 Error)
        << length;
  }
}

// A shelf is as long as it is.
TEST(Arrivals, ThatLieNowhereAreRefused) {
  const auto read = [](const std::vector<std::uint32_t>& places, ConstBytes shelf) {
    Buffer message;
    ExampleWriter writer;
    writer.begin(message);
    for (const std::uint32_t place : places) writer.append(place);
    writer.end();
    MessageReader reader;
    std::vector<RoutedExample> routed_examples;
    std::vector<std::size_t> ends;
    reader.read_examples({{.bytes = message.bytes(), .shelf = shelf}}, routed_examples, ends);
    return routed_examples.size();
  };
  Buffer shelf;
  shelf.resize(200);
  std::fill_n(shelf.data(), shelf.size(), std::byte{0});
  EXPECT_EQ(read({0, 20}, shelf.bytes()), 2U);
  EXPECT_THROW(read({0, 21}, shelf.bytes()), Error) << "a head, and half a record";
  EXPECT_THROW(read({0xffffffff}, shelf.bytes()), Error);
  EXPECT_THROW(read({0}, {}), Error);
  EXPECT_EQ(read({}, {}), 0U);
  shelf.data()[17] = std::byte{0x55};  // of the level-1 partition of the first one
  EXPECT_THROW(read({0}, shelf.bytes()), Error);
}

TEST(Arrivals, OfMorePlacesThanAMessageHasRoomForAreRefused) {
  Buffer shelf;
  shelf.resize(200);
  std::fill_n(shelf.data(), shelf.size(), std::byte{0});
  for (const std::uint32_t count : {1U, 100U, 0xffffffffU}) {
    Buffer message;
    message.append(&count, sizeof count);
    MessageReader reader;
    std::vector<RoutedExample> routed_examples;
    std::vector<std::size_t> ends;
    EXPECT_THROW(reader.read_examples({{.bytes = message.bytes(), .shelf = shelf.bytes()}}, routed_examples, ends),
                 Error)
        << count;
  }
}

// Visits of examples of a batch, as a rank has them: their records are in memory.
class Visits : public ::testing::Test {
 protected:
  Visits() {
    const Buffer message = arrivals_of(batch_);
    std::vector<std::size_t> ends;
    reader_.read_examples({{.bytes = message.bytes()}}, routed_examples_, ends);
  }

  PartitionTask task(std::size_t i, TaskKind kind) const {
    PartitionTask task;
    task.order = routed_examples_[i].order;
    task.slot = routed_examples_[i].slot;
    task.label = routed_examples_[i].label;
    task.kind = kind;
    task.partition = static_cast<Partition>(i + 1);
    task.example = routed_examples_[i].example;
    return task;
  }

  Batch batch_ = all_sorts();
  MessageReader reader_;
  std::vector<RoutedExample> routed_examples_;
};

TEST_F(Visits, OfAllKindsComeAsTheyWereSent) {
  std::vector<PartitionTask> sent;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    PartitionTask draw = task(i, TaskKind::kDraw);
    draw.coins = mix(i);
    draw.probability = 0.25;
    PartitionTask search = task(i, TaskKind::kSearch);
    search.probability = 1.0 / 3;
    PartitionTask settle = task(i, TaskKind::kSettle);
    settle.coins = mix(i + 1);
    settle.disagreements = 300;
    PartitionTask open = task(i, TaskKind::kOpen);
    open.split = 123456;
    open.disagreements = 2;
    sent.insert(sent.end(), {draw, search, search, task(i, TaskKind::kKnown), settle, open});
  }
  Buffer message;
  TaskWriter writer(message);
  for (const PartitionTask& one : sent) writer.append(one);

  MessageReader reader;
  std::vector<PartitionTask> tasks;
  std::vector<std::size_t> ends;
  reader.read_tasks({message.bytes()}, tasks, ends);
  ASSERT_EQ(tasks.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(tasks[i].order, sent[i].order);
    EXPECT_EQ(tasks[i].slot, sent[i].slot);
    EXPECT_EQ(tasks[i].label, sent[i].label);
    EXPECT_EQ(tasks[i].kind, sent[i].kind);
    EXPECT_EQ(tasks[i].partition, sent[i].partition);
    EXPECT_EQ(tasks[i].coins, sent[i].coins);
    EXPECT_EQ(tasks[i].probability, sent[i].probability);
    EXPECT_EQ(tasks[i].split, sent[i].split);
    EXPECT_EQ(tasks[i].disagreements, sent[i].disagreements);
    expect_same_example(tasks[i].example, batch_[i / 6]);
  }
}

TEST_F(Visits, ThatMakeNoSenseAreRefused) {
  const auto message_of = [&](Partition partition) {
    PartitionTask one = task(0, TaskKind::kKnown);
    one.partition = partition;
    Buffer message;
    TaskWriter(message).append(one);
    return message;
  };
  const auto read_after_another = [&](ConstBytes message) {
    const Buffer other = message_of(1);
    MessageReader reader;
    std::vector<PartitionTask> tasks;
    std::vector<std::size_t> ends;
    reader.read_tasks({other.bytes(), message}, tasks, ends);
  };
  Buffer message = message_of(kPartitions - 1);
  EXPECT_NO_THROW(read_after_another(message.bytes()));
  EXPECT_THROW(read_after_another(message_of(kPartitions).bytes()), Error);
  EXPECT_THROW(read_after_another(message_of(kNoPartition).bytes()), Error);

  const std::byte kind = message.bytes()[0];
  message.bytes()[0] |= std::byte{5};
  EXPECT_THROW(read_after_another(message.bytes()), Error) << "of no kind";
  message.bytes()[0] = kind & std::byte{127};
  EXPECT_THROW(read_after_another(message.bytes().first(sizeof kind + sizeof(Partition))), Error) << "of no example";
}

// Features cross the wire once however many tasks an example makes, and values of 1 not at all.
TEST_F(Visits, OfOneExampleCarryItOnce) {
  Buffer once;
  TaskWriter(once).append(task(0, TaskKind::kSearch));
  Buffer often;
  TaskWriter writer(often);
  for (int i = 0; i < 10; ++i) writer.append(task(0, TaskKind::kSearch));
  EXPECT_EQ(often.size() - once.size(), 9U * (sizeof(std::uint8_t) + sizeof(Partition) + sizeof(double)));
  EXPECT_LT(once.size(), batch_[0].features.size() * sizeof(FeatureHash) + 40);
}

}  // namespace
}  // namespace cpt
