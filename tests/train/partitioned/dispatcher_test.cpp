// An example reaches rank 0 and every owner on its path once, through the ring or in a message.
#include "train/partitioned/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "comm/on_machines.h"
#include "comm/threads/threads.h"
#include "data/shards/shards.h"
#include "model/random_stream.h"
#include "train/job.h"

namespace cpt {
namespace {

constexpr std::size_t kKnown = 900;  // labels; enough for paths of three blocks and more
constexpr int kRanks = 5;

// How ranks come to their examples.
struct Sharing {
  const char* name;
  int machines;
  std::size_t bytes_of_round;
};

class Dispatch : public ::testing::TestWithParam<Sharing> {
 protected:
  Dispatch() {
    const auto make_ring = [this](int rank) {
      OnMachines comm(group_.at(rank), GetParam().machines);
      rings_[static_cast<std::size_t>(comm.rank())] =
          std::make_unique<SharedExampleRing>(comm, GetParam().bytes_of_round);
    };
    {
      std::vector<std::jthread> ranks;
      for (int rank = 0; rank < kRanks; ++rank) ranks.emplace_back(make_ring, rank);
    }
    Dice dice(1);
    for (std::size_t i = 0; i < kKnown; ++i) {
      const LabelId split = i == 0 ? kNoLabel : static_cast<LabelId>(dice.below(i));
      learner_.apply({label_number(i), {split}, 0});
    }
    for (Partition p = 1; p < kPartitions; ++p) owners_[p] = static_cast<int>(dice.below(kRanks));
  }

  // Reads positions [first, end) of the shards; what each rank gets.
  std::vector<std::vector<RoutedExample>> read(BatchReader& reader, std::uint64_t first, std::uint64_t end) {
    messages_ = std::vector<Buffer>(kRanks);
    header_ = {};
    for (Buffer& message : messages_) message.extend(sizeof(RoundHeader));
    dispatcher_.read(reader, first, {end}, {owners_, *rings_[0], messages_}, header_, ledger_, true);
    std::vector<std::vector<RoutedExample>> routed_examples(kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      std::vector<std::size_t> ends;
      const ConstBytes message = ConstBytes(messages_[rank].bytes()).subspan(sizeof(RoundHeader));
      read_examples({{.bytes = message, .examples = header_.examples, .ring = rings_[rank]->of(0)}},
                    routed_examples[rank], ends);
    }
    return routed_examples;
  }

  std::set<int> owners_on_the_way(LabelId label, std::vector<std::uint8_t>& places) const {
    std::vector<PathStep> path;
    learner_.tree().path(label, path);
    std::set<int> owners;
    places.clear();
    for (const PathStep& hop : path) {
      owners.insert(owners_[learner_.tree().header(hop.block).partition]);
      places.push_back(hop.position);
    }
    return owners;
  }

  ThreadGroup group_{kRanks};  // has the memory of the rings
  Folder folder_;
  Learner learner_{{.bits = kLeastBits}};
  Owners owners_ = Owners(kPartitions);
  std::vector<std::unique_ptr<SharedExampleRing>> rings_ = std::vector<std::unique_ptr<SharedExampleRing>>(kRanks);
  Dispatcher dispatcher_{learner_, kRanks};  // of rank 0
  std::vector<Buffer> messages_;
  RoundHeader header_;
  RoundLedger ledger_{1};
};

INSTANTIATE_TEST_SUITE_P(, Dispatch,
                         ::testing::Values(Sharing{"OnOneMachine", 1, SharedExampleRing::kBytesOfRound},
                                           Sharing{"OnTwoMachines", 2, SharedExampleRing::kBytesOfRound},
                                           Sharing{"OnMachinesOfTheirOwn", kRanks, SharedExampleRing::kBytesOfRound},
                                           Sharing{"WhereTheRingFillsUp", 1, 4096},
                                           Sharing{"WhereThereIsNoRing", 0, SharedExampleRing::kBytesOfRound}),
                         [](const auto& test) { return test.param.name; });

BatchReader feed_of(const std::vector<std::string>& paths) {
  ReadOptions options;
  options.format = Format::kVw;
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < paths.size(); ++i) all.push_back(i);
  return BatchReader({find_shards(paths), all, options});
}

TEST_P(Dispatch, SendsEachExampleOnceToEveryOwnerOnItsWay) {
  std::string lines;
  for (std::size_t i = 0; i < kKnown; ++i) lines += label_number(i) + " 3 | w:" + std::to_string(i + 1) + " v\n";
  BatchReader reader = feed_of({folder_.write("shard", lines)});
  const auto routed_examples = read(reader, 0, kKnown);
  EXPECT_EQ(header_.examples, kKnown);
  EXPECT_EQ(header_.ended, 1U);
  EXPECT_EQ(ledger_.size(), kKnown);
  Losses losses;
  ledger_.count_until(make_order(2, 0, 0), {}, losses);
  EXPECT_EQ(losses.examples, 3U);
  EXPECT_EQ(losses.weight, 9);

  std::vector<std::size_t> next(kRanks);
  for (LabelId label = 0; label < kKnown; ++label) {
    std::vector<std::uint8_t> places;
    for (const int owner : owners_on_the_way(label, places)) {
      const auto rank = static_cast<std::size_t>(owner);
      ASSERT_LT(next[rank], routed_examples[rank].size());
      const RoutedExample& arrival = routed_examples[rank][next[rank]++];
      EXPECT_EQ(arrival.label, label);
      EXPECT_EQ(arrival.slot, label);
      EXPECT_EQ(std::vector<std::uint8_t>(arrival.example.path().begin(), arrival.example.path().end()), places);
      EXPECT_EQ(arrival.example.label(), "");
      EXPECT_EQ(arrival.example.importance(), 3);
      const ExampleView x = arrival.example.view();
      ASSERT_EQ(x.features.size(), 3U);
      EXPECT_EQ(x.features[0], kConstantFeature);
      EXPECT_EQ(std::multiset<float>(x.values.begin(), x.values.end()),
                (std::multiset<float>{1, 1, static_cast<float>(label + 1)}));
    }
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank) EXPECT_EQ(next[rank], routed_examples[rank].size());
}

// What is read in place has crossed no wire.
TEST_P(Dispatch, SendsWhatIsInNoRing) {
  std::string lines;
  for (std::size_t i = 0; i < 40; ++i) lines += label_number(i) + " | a b c d e f g h i j k l m n o p q r s t\n";
  BatchReader reader = feed_of({folder_.write("shard", lines)});
  const auto routed_examples = read(reader, 0, 40);
  constexpr std::size_t kFeatureBytes = sizeof(FeatureHash) * 21;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const ConstBytes ring = rings_[rank]->of(0);
    const auto is_sent = [&](const RoutedExample& arrival) {
      const auto* at = reinterpret_cast<const std::byte*>(arrival.example.view().features.data());
      return at < ring.data() || at >= ring.data() + ring.size();
    };
    const auto sent = static_cast<std::size_t>(std::ranges::count_if(routed_examples[rank], is_sent));
    const std::size_t bytes = messages_[rank].size() - sizeof(RoundHeader);
    EXPECT_GE(bytes, sent * kFeatureBytes);
    EXPECT_LE(bytes, sent * kFeatureBytes + 80 * routed_examples[rank].size());
    if (ring.empty()) {
      EXPECT_EQ(sent, routed_examples[rank].size());
    } else if (GetParam().bytes_of_round == SharedExampleRing::kBytesOfRound) {
      EXPECT_EQ(sent, 0U);
    } else {
      EXPECT_LT(sent, routed_examples[rank].size());
    }
  }
  if (GetParam().bytes_of_round < SharedExampleRing::kBytesOfRound) {
    EXPECT_GT(messages_[0].size(), sizeof(RoundHeader) + kFeatureBytes);
  }
}

// Examples in the ring stay while that many more rounds are read.
TEST_P(Dispatch, KeepsExamplesForAsManyRoundsAsTheRingHas) {
  std::string lines;
  for (std::size_t i = 0; i < 100; ++i) lines += label_number(i) + " | w:" + std::to_string(i + 1) + "\n";
  BatchReader reader = feed_of({folder_.write("shard", lines)});
  std::vector<std::vector<RoutedExample>> of_root;
  std::vector<std::vector<Buffer>> messages(SharedExampleRing::kRounds);  // what is read refers to them
  for (std::size_t round = 0; round < SharedExampleRing::kRounds; ++round) {
    of_root.push_back(read(reader, 10 * round, 10 * (round + 1))[0]);
    messages[round] = std::move(messages_);
  }
  for (std::size_t i = 0; i < 10 * SharedExampleRing::kRounds; ++i) {
    const ExampleView x = of_root[i / 10][i % 10].example.view();
    EXPECT_EQ(std::multiset<float>(x.values.begin(), x.values.end()),
              (std::multiset<float>{1, static_cast<float>(i + 1)}));
  }
}

TEST_P(Dispatch, SendsUnknownLabelsByNameToTheRootOnly) {
  BatchReader reader = feed_of({folder_.write("shard", "new | a\n" + label_number(3) + " | b\nlabel | c\n")});
  const auto routed_examples = read(reader, 0, 10);
  ASSERT_EQ(routed_examples[0].size(), 3U);
  EXPECT_EQ(routed_examples[0][0].label, kNoLabel);
  EXPECT_EQ(routed_examples[0][0].example.label(), "new");
  EXPECT_EQ(routed_examples[0][1].label, 3U);
  EXPECT_EQ(routed_examples[0][2].example.label(), "label");
  for (std::size_t rank = 1; rank < kRanks; ++rank) {
    for (const RoutedExample& arrival : routed_examples[rank]) EXPECT_EQ(arrival.label, 3U);
  }
}

TEST_P(Dispatch, CountsTheShardsThatWereThereAtTheLastPosition) {
  const auto lines = [](std::size_t count) { return random_lines({.examples = count}); };
  BatchReader reader =
      feed_of({folder_.write("a", lines(9)), folder_.write("b", lines(4)), folder_.write("c", lines(6))});
  const std::vector<std::uint64_t> ends = {4, 5, 6, 8, 9, 100};
  const std::vector<std::uint64_t> active = {3, 2, 2, 1, 1, 0};
  const std::vector<std::uint64_t> examples = {12, 2, 2, 2, 1, 0};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto routed_examples = read(reader, first, ends[i]);
    EXPECT_EQ(header_.active_shards, active[i]) << ends[i];
    EXPECT_EQ(header_.examples, examples[i]) << ends[i];
    EXPECT_EQ(routed_examples[0].size(), examples[i]);
    for (std::size_t n = 1; n < routed_examples[0].size(); ++n)
      EXPECT_LT(routed_examples[0][n - 1], routed_examples[0][n]);
    first = ends[i];
  }
  EXPECT_EQ(header_.ended, 1U);
}

// By position, then by shard, then by place in the line; what does not fit is refused rather than mixed up.
TEST(OrderInRound, IsThatOfExamples) {
  std::uint64_t last = 0;
  for (const std::uint64_t position : {0U, 1U, 2U, (1U << 20) - 1}) {
    for (const std::uint32_t shard : {0U, 1U, (1U << 22) - 1}) {
      for (const std::uint64_t index : {0U, 1U, (1U << 22) - 1}) {
        const std::uint64_t order = make_order(position, shard, index);
        EXPECT_TRUE(order > last || (position == 0 && shard == 0 && index == 0));
        last = order;
      }
    }
  }
  EXPECT_THROW(make_order(1U << 20, 0, 0), Error);
  EXPECT_THROW(make_order(0, 1U << 22, 0), Error);
  EXPECT_THROW(make_order(0, 0, 1U << 22), Error);
}

}  // namespace
}  // namespace cpt
