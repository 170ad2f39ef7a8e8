// What lies on a shelf of messages, for whom and how long; and mail that goes by it.
#include "train/partitioned/message_shelf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "comm/alone.h"
#include "comm/collectives.h"
#include "comm/on_machines.h"
#include "comm/threads/threads.h"
#include "cpt/error.h"
#include "train/partitioned/round.h"

namespace cpt::testing {
namespace {

constexpr std::size_t kLong = SharedMessageRing::kLeastBytes;

// More than any system gives, for all steps together.
constexpr std::size_t kTooMuch = (std::size_t{1} << 63) / SharedMessageRing::kSteps + 64;

// Says who tells whom in which step, and is so long.
Buffer message_of(int from, int to, int step, std::size_t bytes) {
  Buffer message;
  message.resize(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    message.data()[i] = static_cast<std::byte>((static_cast<std::size_t>(37 * from + 11 * to + 5 * step) + i) % 251);
  }
  return message;
}

bool same(ConstBytes a, ConstBytes b) { return std::ranges::equal(a, b); }

TEST(SharedMessageRing, HoldsLongMessagesForRanksOfTheMachine) {
  run_threads(4, [](Communicator& threads) {
    OnMachines comm(threads, 2);
    SharedMessageRing shelf(comm);
    shelf.begin_step();
    for (int to = 0; to < comm.size(); ++to) {
      const bool together = to % 2 == comm.rank() % 2;
      EXPECT_EQ(shelf.put(to, message_of(comm.rank(), to, 0, kLong).bytes()).has_value(), together);
      EXPECT_FALSE(shelf.put(to, message_of(comm.rank(), to, 0, kLong - 1).bytes()));
    }
  });
}

TEST(SharedMessageRing, KeepsMessagesForAsManyStepsAsItHas) {
  Alone alone;
  SharedMessageRing shelf(alone);
  constexpr int kSteps = SharedMessageRing::kSteps;
  std::vector<SharedMessageRing::Place> places;
  for (int step = 0; step < 3 * kSteps; ++step) {
    shelf.begin_step();
    const auto place = shelf.put(0, message_of(0, 0, step, kLong + static_cast<std::size_t>(step)).bytes());
    ASSERT_TRUE(place);
    places.push_back(*place);
    for (int earlier = std::max(0, step - kSteps + 1); earlier <= step; ++earlier) {
      const Buffer expected = message_of(0, 0, earlier, kLong + static_cast<std::size_t>(earlier));
      EXPECT_TRUE(same(shelf.get(0, places[static_cast<std::size_t>(earlier)]), expected.bytes())) << step;
    }
  }
}

TEST(SharedMessageRing, TakesNoMoreThanAStepHasRoomFor) {
  Alone alone;
  SharedMessageRing shelf(alone, 4 * kLong);
  for (int step = 0; step < 6; ++step) {
    shelf.begin_step();
    EXPECT_TRUE(shelf.put(0, message_of(0, 0, step, 3 * kLong).bytes()));
    EXPECT_FALSE(shelf.put(0, message_of(0, 0, step, kLong + 1).bytes()));
  }
}

TEST(SharedMessageRing, RefusesPlacesThatAreNotThere) {
  Alone alone;
  const SharedMessageRing shelf(alone, 4096);
  constexpr std::uint64_t kAll = 4096 * SharedMessageRing::kSteps;
  EXPECT_EQ(shelf.get(0, {0, kAll}).size(), kAll);
  EXPECT_THROW(shelf.get(0, {0, kAll + 1}), Error);
  EXPECT_THROW(shelf.get(0, {kAll, 1}), Error);
  EXPECT_THROW(shelf.get(0, {kAll + 1, 0}), Error);
  EXPECT_THROW(shelf.get(0, {1, ~std::uint64_t{0}}), Error);
}

struct Messaging {
  const char* name;
  int machines;
  std::size_t bytes_of_step;
};

class RankMessagesTest : public ::testing::TestWithParam<Messaging> {};

INSTANTIATE_TEST_SUITE_P(, RankMessagesTest,
                         ::testing::Values(Messaging{"OnOneMachine", 1, SharedMessageRing::kBytesOfStep},
                                           Messaging{"OnTwoMachines", 2, SharedMessageRing::kBytesOfStep},
                                           Messaging{"WhereTheShelfFillsUp", 1, 4 * kLong},
                                           Messaging{"WhereThereIsNoShelf", 1, kTooMuch}),
                         [](const auto& test) { return test.param.name; });

// Short ones, long ones and empty ones, over and over, between all ranks and from one to all.
TEST_P(RankMessagesTest, ArrivesAsItWasSent) {
  run_threads(4, [](Communicator& threads) {
    OnMachines comm(threads, GetParam().machines);
    SharedMessageRing shelf(comm, GetParam().bytes_of_step);
    RankMessages mail(comm.size());
    const std::vector<int> all{0, 1, 2, 3};
    const auto bytes = [](int from, int to, int step) {
      return static_cast<std::size_t>((from + to + step) % 3) * (kLong - 1 + static_cast<std::size_t>(step % 2));
    };
    for (int step = 0; step < 20; ++step) {
      shelf.begin_step();
      mail.clear();
      const std::vector<int> from = step % 5 == 0 ? std::vector<int>{2} : all;
      const bool sends = std::ranges::count(from, comm.rank()) > 0;
      for (int to = 0; to < comm.size(); ++to) {
        const Buffer message = message_of(comm.rank(), to, step, bytes(comm.rank(), to, step));
        mail.outgoing()[static_cast<std::size_t>(to)].append(message.data(), message.size());
      }
      mail.start(comm, shelf, sends ? all : std::vector<int>{}, from);
      mail.wait(comm, "mail");
      const auto received = mail.received(comm.rank(), shelf);
      ASSERT_EQ(received.size(), from.size());
      for (std::size_t i = 0; i < from.size(); ++i) {
        EXPECT_EQ(received[i].from, from[i]);
        const Buffer expected = message_of(from[i], comm.rank(), step, bytes(from[i], comm.rank(), step));
        EXPECT_TRUE(same(received[i].bytes, expected.bytes())) << step << ' ' << from[i];
      }
      // As a loop waits a step for what was sent in the step before.
      all_gather_value(comm, step, "step");
    }
  });
}

}  // namespace
}  // namespace cpt::testing
