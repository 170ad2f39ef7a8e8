// What a communicator checks before it starts, and what its watchdog says.
#include "comm/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "comm/alone.h"
#include "comm/collectives.h"
#include "comm/faulty.h"
#include "comm/threads/threads.h"

namespace cpt::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Arguments, ThatDoNotFitAreRefused) {
  Alone comm;
  std::vector<std::byte> two(2), three(3);
  EXPECT_THROW(comm.start_all_gather(two, three), Error);
  EXPECT_THROW(comm.start_broadcast(two, 1), Error);
  EXPECT_THROW(comm.start_broadcast(two, -1), Error);
  EXPECT_THROW(comm.start_exchange({}, {}), Error);
  EXPECT_THROW(comm.start_exchange({ConstBytes(two)}, {Bytes(three)}), Error);
  EXPECT_THROW(exchange(comm, {ConstBytes(two), ConstBytes(two)}, "exchange"), Error);
}

std::vector<Incoming> heard_from(std::initializer_list<int> ranks) {
  std::vector<Incoming> incoming;
  for (const int rank : ranks) incoming.emplace_back().from = rank;
  return incoming;
}

std::string error_of_delivery(Communicator& comm, const std::vector<Outgoing>& outgoing,
                              std::vector<Incoming> incoming) {
  const std::uint64_t before = comm.bytes_sent();
  try {
    comm.start_delivery(outgoing, incoming);
  } catch (const Error& error) {
    EXPECT_EQ(comm.bytes_sent(), before);
    return error.what();
  }
  return "no error";
}

TEST(Arguments, OfADeliveryThatDoNotFitAreRefused) {
  ThreadGroup group(3);
  Communicator& comm = group.at(1);
  const std::vector<std::byte> two(2);
  EXPECT_EQ(error_of_delivery(comm, {{2, two}, {1, two}}, {}), "delivery: rank 1 sends to itself");
  EXPECT_EQ(error_of_delivery(comm, {}, heard_from({1})), "delivery: rank 1 expects a message of itself");
  EXPECT_EQ(error_of_delivery(comm, {{3, two}}, {}), "delivery: rank 1 sends to rank 3 among 3");
  EXPECT_EQ(error_of_delivery(comm, {{-1, two}}, {}), "delivery: rank 1 sends to rank -1 among 3");
  EXPECT_EQ(error_of_delivery(comm, {}, heard_from({3})), "delivery: rank 1 expects a message of rank 3 among 3");
  EXPECT_EQ(error_of_delivery(comm, {}, heard_from({-1})), "delivery: rank 1 expects a message of rank -1 among 3");
  EXPECT_EQ(error_of_delivery(comm, {{0, two}, {2, two}, {0, {}}}, {}), "delivery: rank 1 sends to rank 0 twice");
  EXPECT_EQ(error_of_delivery(comm, {}, heard_from({2, 0, 2})), "delivery: rank 1 expects a message of rank 2 twice");
}

TEST(Arguments, OfADeliveryNameNobodyWhereThereIsNobodyElse) {
  Alone comm;
  EXPECT_EQ(error_of_delivery(comm, {{0, {}}}, {}), "delivery: rank 0 sends to itself");
  EXPECT_EQ(error_of_delivery(comm, {}, heard_from({1})), "delivery: rank 0 expects a message of rank 1 among 1");
  EXPECT_EQ(error_of_delivery(comm, {}, {}), "no error");
}

// Never done; the rest of the job, as far as the watchdog sees it, is `silent`.
class Stuck : public Alone, public Operation {
 public:
  bool done() override { return false; }
  int size() const override { return 64; }
  std::string host_of(int rank) const override { return "node" + std::to_string(rank / 16); }
  RollCallResult call_roll(std::chrono::milliseconds) override { return {silent, input_is_awaited}; }

  std::string complaint() {
    set_stall_timeout(1ms);
    try {
      wait(*this, "the weight merge");
    } catch (const StallError& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<int> silent;
  bool input_is_awaited = false;
};

TEST(Watchdog, NamesTheCallTheMissingRankAndWhoSpeaks) {
  Stuck job;
  job.silent = {17};
  EXPECT_THAT(job.complaint(), AllOf(HasSubstr("rank 0 on node0 has waited"), HasSubstr("s in the weight merge"),
                                     HasSubstr("no sign of rank 17 on node1")));
}

TEST(Watchdog, NamesAFewOfManyMissingRanks) {
  Stuck job;
  for (int rank = 1; rank < 64; ++rank) job.silent.push_back(rank);
  EXPECT_THAT(job.complaint(), AllOf(HasSubstr("rank 8 on node0 and 55 more"), Not(HasSubstr("rank 9"))));
}

TEST(Watchdog, NamesAMissingRankAlsoWhereAnotherWaitsForInput) {
  Stuck job;
  job.silent = {17};
  job.input_is_awaited = true;
  EXPECT_THAT(job.complaint(), HasSubstr("no sign of rank 17 on node1"));
}

TEST(Watchdog, SaysWhenAllRanksWait) { EXPECT_THAT(Stuck().complaint(), HasSubstr("all ranks are waiting")); }

// Done after fifty of the shortest timeouts.
class Late : public Stuck {
 public:
  bool done() override { return std::chrono::steady_clock::now() > end_; }
  RollCallResult call_roll(std::chrono::milliseconds grace) override {
    ++roll_calls;
    return Stuck::call_roll(grace);
  }

  int roll_calls = 0;

 private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + 50ms;
};

TEST(Watchdog, IsOffWithATimeoutOfZero) {
  Late job;
  job.silent = {17};
  job.set_stall_timeout(0ms);
  EXPECT_NO_THROW(job.wait(job, "the weight merge"));
  EXPECT_EQ(job.roll_calls, 0);
  const StallTimeoutExtension extension(job, 1h);
  EXPECT_EQ(job.stall_timeout(), 0ms);
  Late watched;
  watched.silent = {17};
  EXPECT_THAT(watched.complaint(), HasSubstr("no sign of rank 17"));
  EXPECT_EQ(watched.roll_calls, 1);
}

// Rank 1 of three is busy until one of the others has given up; the third may learn of it before its own timeout.
TEST(Watchdog, FindsTheSilentRankAmongThreads) {
  std::atomic<int> complaints = 0;
  const auto body = [&](Communicator& inner) {
    const auto busy = [&] {
      while (complaints == 0) std::this_thread::sleep_for(1ms);
    };
    Faulty comm(inner, 1, 0, busy);
    comm.set_stall_timeout(200ms);
    try {
      all_gather_value(comm, comm.rank(), "meeting");
    } catch (const StallError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("no sign of rank 1 on"), Not(HasSubstr(", rank"))));
      ++complaints;
      throw;
    }
  };
  EXPECT_THROW(run_threads(3, body), StallError);
}

// Rank 1 of three waits for input for many times the stall timeout.
TEST(Watchdog, WaitsForARankThatWaitsForInput) {
  run_threads(3, [](Communicator& inner) {
    Faulty comm(inner, 1, 0, [&] {
      for (int i = 0; i < 100; ++i) {
        inner.answer_roll_call(WaitsFor::kInput);
        std::this_thread::sleep_for(10ms);
      }
    });
    comm.set_stall_timeout(100ms);
    EXPECT_EQ(all_gather_value(comm, comm.rank(), "meeting"), (std::vector<int>{0, 1, 2}));
  });
}

// Tells when the roll is called.
class ToldOfRollCalls : public Faulty {
 public:
  ToldOfRollCalls(Communicator& inner, std::atomic<bool>& called, std::function<void()> misfortune)
      : Faulty(inner, 1, 0, std::move(misfortune)), called_(called) {}
  RollCallResult call_roll(std::chrono::milliseconds grace) override {
    called_ = true;
    return Faulty::call_roll(grace);
  }

 private:
  std::atomic<bool>& called_;
};

// Rank 1 comes during the roll call: it was slow, and the job goes on.
TEST(Watchdog, ForgivesARankThatComesDuringTheRollCall) {
  std::atomic<bool> called = false;
  run_threads(2, [&](Communicator& inner) {
    ToldOfRollCalls comm(inner, called, [&] {
      while (!called) std::this_thread::sleep_for(1ms);
    });
    comm.set_stall_timeout(50ms);
    EXPECT_EQ(all_gather_value(comm, comm.rank(), "meeting"), (std::vector<int>{0, 1}));
  });
}

}  // namespace
}  // namespace cpt::testing
