// An error on one rank of a thread group is reported on all of them, and no rank hangs.
#include "comm/threads/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "comm/collectives.h"
#include "comm/faulty.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void meet(Communicator& comm) { all_gather_value(comm, comm.rank(), "meeting"); }

// The chain of causes of what run_threads throws.
std::string error_of(int ranks, const std::function<void(Communicator&)>& body) {
  try {
    run_threads(ranks, body);
  } catch (const std::exception& error) {
    return describe(error);
  }
  return "no error";
}

TEST(RunThreads, GivesEachRankItsOwnCommunicator) {
  std::atomic<int> ranks_seen = 0;
  run_threads(5, [&](Communicator& comm) {
    EXPECT_EQ(comm.size(), 5);
    EXPECT_FALSE(comm.host().empty());
    ranks_seen += 1 << comm.rank();
  });
  EXPECT_EQ(ranks_seen, 0b11111);
}

TEST(RunThreads, RethrowsTheErrorOfTheRankThatFailedFirstHand) {
  for (int failing = 0; failing < 3; ++failing) {
    EXPECT_EQ(error_of(3,
                       [&](Communicator& comm) {
                         if (comm.rank() == failing) throw Error(Fault::kBadData, "rotten shard");
                         meet(comm);
                       }),
              "rotten shard");
  }
}

TEST(RunThreads, TellsTheOthersWhyTheirCallsFail) {
  std::atomic<int> informed = 0;
  error_of(4, [&](Communicator& comm) {
    if (comm.rank() == 2) throw Error(Fault::kBadData, "rotten shard");
    try {
      meet(comm);
    } catch (const Error& error) {
      // From the start of the call or from the wait, whichever came first.
      EXPECT_THAT(describe(error), HasSubstr("rank 2 failed: rotten shard"));
      ++informed;
    }
  });
  EXPECT_EQ(informed, 3);
}

TEST(RunThreads, PrefersTheLowestRankIfSeveralFail) {
  EXPECT_EQ(error_of(5,
                     [](Communicator& comm) {
                       if (comm.rank() >= 2) throw Error(Fault::kFailed, "rank " + std::to_string(comm.rank()));
                     }),
            "rank 2");
}

TEST(RunThreads, NobodyWaitsForARankThatEnded) {
  const auto leaves_early = [](Communicator& comm) {
    meet(comm);
    if (comm.rank() != 1) meet(comm);
  };
  EXPECT_THAT(error_of(3, leaves_early), HasSubstr("rank 1 ended before call 1"));
}

TEST(RunThreads, NobodyWaitsForARankThatDroppedItsOperation) {
  std::atomic<bool> dropped = false;
  const auto drops = [&](Communicator& comm) {
    if (comm.rank() == 1) {
      const int mine = comm.rank();
      std::vector<int> all(2);
      comm.start_all_gather(bytes_of(mine), std::as_writable_bytes(std::span(all))).reset();
      dropped = true;
      return;
    }
    while (!dropped) std::this_thread::yield();
    meet(comm);
  };
  EXPECT_EQ(error_of(2, drops), "rank 1 gave up a call that others need");
}

TEST(Mismatch, OfKindNamesBothCalls) {
  const auto mixed = [](Communicator& comm) {
    if (comm.rank() == 0) all_gather_value(comm, std::uint64_t{0}, "gather");
    if (comm.rank() == 1) broadcast_value(comm, std::uint32_t{0}, 1, "broadcast");
  };
  EXPECT_THAT(error_of(2, mixed), AllOf(HasSubstr("rank 0 in all_gather of 8 bytes"),
                                        HasSubstr("rank 1 in broadcast of 4 bytes from rank 1")));
}

TEST(Mismatch, OfLengthNamesBothLengths) {
  const auto uneven = [](Communicator& comm) {
    std::vector<std::byte> data(comm.rank() == 2 ? 5 : 7);
    comm.wait(*comm.start_broadcast(data, 0), "uneven");
  };
  EXPECT_THAT(error_of(3, uneven), AllOf(HasSubstr("of 7 bytes"), HasSubstr("rank 2 in broadcast of 5 bytes")));
}

TEST(Mismatch, OfRootNamesBothRoots) {
  const auto two_roots = [](Communicator& comm) { broadcast_value(comm, 1, comm.rank(), "roots"); };
  EXPECT_THAT(error_of(2, two_roots), AllOf(HasSubstr("from rank 0"), HasSubstr("from rank 1")));
}

TEST(Mismatch, OfAnExchangeNamesThePair) {
  const auto uneven = [](Communicator& comm) {
    std::vector<std::byte> one(1), two(2);
    std::vector<ConstBytes> outgoing(2);
    std::vector<Bytes> incoming(2);
    if (comm.rank() == 0) outgoing[1] = two;
    if (comm.rank() == 1) incoming[0] = one;
    comm.wait(*comm.start_exchange(outgoing, incoming), "uneven");
  };
  EXPECT_THAT(error_of(2, uneven), HasSubstr("rank 0 sends 2 bytes to rank 1, which expects 1"));
}

// Ranks send to and expect messages of the named ranks; the others have empty lists.
std::string error_of_delivery(int ranks, const std::map<int, int>& sends, const std::map<int, int>& expects) {
  return error_of(ranks, [&](Communicator& comm) {
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    if (sends.contains(comm.rank())) outgoing.push_back({sends.at(comm.rank()), {}});
    if (expects.contains(comm.rank())) incoming.emplace_back().from = expects.at(comm.rank());
    comm.wait(*comm.start_delivery(outgoing, incoming), "delivery");
  });
}

TEST(Mismatch, OfADeliveryNamesThePair) {
  EXPECT_EQ(error_of_delivery(3, {{0, 2}}, {{2, 0}}), "no error");
  EXPECT_THAT(error_of_delivery(3, {{0, 2}}, {}), HasSubstr("rank 0 sends to rank 2, which does not expect it"));
  EXPECT_THAT(error_of_delivery(3, {}, {{1, 2}}),
              HasSubstr("rank 1 expects a message of rank 2, which does not send to it"));
  EXPECT_THAT(error_of_delivery(3, {{0, 1}}, {{1, 2}}), HasSubstr("rank 1 expects a message of rank 2"));
}

TEST(Mismatch, OfADeliveryAndAnExchangeNamesBoth) {
  const auto mixed = [](Communicator& comm) {
    std::vector<Incoming> nobody;
    if (comm.rank() == 0) comm.wait(*comm.start_delivery({}, nobody), "delivery");
    if (comm.rank() == 1) comm.wait(*comm.start_exchange({{}, {}}, {{}, {}}), "exchange");
  };
  EXPECT_THAT(error_of(2, mixed), AllOf(HasSubstr("rank 0 in delivery"), HasSubstr("rank 1 in exchange")));
}

TEST(Faulty, CountsDeliveries) {
  const auto breaks_at_call_1 = [&](Communicator& inner) {
    Faulty comm(inner, 1, 1, throw_error);
    std::vector<Incoming> nobody;
    meet(comm);
    comm.wait(*comm.start_delivery({}, nobody), "delivery");
  };
  EXPECT_EQ(error_of(2, breaks_at_call_1), "broken on purpose");
}

TEST(Faulty, BreaksAtItsCallOfItsRankOnly) {
  std::atomic<int> meetings = 0;
  const auto breaks_at_call_3 = [&](Communicator& inner) {
    Faulty comm(inner, 1, 3, throw_error);
    for (;; ++meetings) meet(comm);
  };
  EXPECT_EQ(error_of(2, breaks_at_call_3), "broken on purpose");
  EXPECT_EQ(meetings, 6);  // three on each of two ranks
}

}  // namespace
}  // namespace cpt::testing
