#include "comm/laws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "comm/message.h"
#include "comm/shared/shared_window.h"

namespace cpt::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Uneven on purpose; every third is empty.
std::size_t length_between(int from, int to) {
  const auto pair = static_cast<std::size_t>(from * 7 + to * 3);
  return pair % 3 == 0 ? 0 : pair * 11;
}

void all_gather_gives_every_part_in_rank_order(Communicator& comm) {
  for (const std::size_t length : {0U, 1U, 8U, 1000U}) {
    const Contents mine = message(comm.rank(), 0, length);
    Contents all(length * static_cast<std::size_t>(comm.size()));
    comm.wait(*comm.start_all_gather(mine, all), "all_gather");
    Contents expected;
    for (int r = 0; r < comm.size(); ++r) {
      const Contents part = message(r, 0, length);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    EXPECT_EQ(all, expected);
  }
}

void broadcast_gives_the_roots_bytes_to_all(Communicator& comm) {
  for (int root = 0; root < comm.size(); ++root) {
    for (const std::size_t length : {0U, 1U, 1000U}) {
      Contents data = message(comm.rank(), 0, length);
      comm.wait(*comm.start_broadcast(data, root), "broadcast");
      EXPECT_EQ(data, message(root, 0, length));
    }
  }
}

void exchange_delivers_each_pairs_bytes(Communicator& comm) {
  std::vector<Contents> outgoing;
  for (int r = 0; r < comm.size(); ++r) outgoing.push_back(message(comm.rank(), r, length_between(comm.rank(), r)));
  const std::vector<Contents> received = exchange(comm, {outgoing.begin(), outgoing.end()}, "exchange");
  std::vector<Contents> expected;
  for (int r = 0; r < comm.size(); ++r) expected.push_back(message(r, comm.rank(), length_between(r, comm.rank())));
  EXPECT_EQ(received, expected);
}

void operations_may_overlap(Communicator& comm) {
  constexpr int kUnderWay = 20;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<int>> out(kUnderWay, std::vector<int>(ranks));
  std::vector<std::vector<int>> in(kUnderWay, std::vector<int>(ranks));
  std::vector<int> broadcast(kUnderWay, comm.rank());
  std::vector<std::unique_ptr<Operation>> operations;
  for (std::size_t i = 0; i < kUnderWay; ++i) {
    std::vector<ConstBytes> outgoing;
    std::vector<Bytes> incoming;
    for (std::size_t r = 0; r < ranks; ++r) {
      out[i][r] = comm.rank() * 10'000 + static_cast<int>(i * 100 + r);
      outgoing.push_back(bytes_of(out[i][r]));
      incoming.push_back(writable_bytes_of(in[i][r]));
    }
    operations.push_back(comm.start_exchange(outgoing, incoming));
    operations.push_back(comm.start_broadcast(writable_bytes_of(broadcast[i]), static_cast<int>(i % ranks)));
  }
  for (auto i = operations.rbegin(); i != operations.rend(); ++i) comm.wait(**i, "overlapping operations");
  for (std::size_t i = 0; i < kUnderWay; ++i) {
    EXPECT_EQ(broadcast[i], static_cast<int>(i % ranks));
    for (std::size_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(in[i][r], static_cast<int>(r) * 10'000 + static_cast<int>(i * 100) + comm.rank());
    }
  }
}

void values_of_all_ranks_are_gathered(Communicator& comm) {
  struct Status {
    std::int64_t examples;
    double loss;
  };
  const std::vector<Status> all = all_gather_value(comm, Status{1000 - comm.rank(), 0.5 * comm.rank()}, "status");
  ASSERT_EQ(all.size(), static_cast<std::size_t>(comm.size()));
  for (int r = 0; r < comm.size(); ++r) {
    EXPECT_EQ(all[static_cast<std::size_t>(r)].examples, 1000 - r);
    EXPECT_EQ(all[static_cast<std::size_t>(r)].loss, 0.5 * r);
  }
}

void uneven_buffers_reach_rank_0_only(Communicator& comm) {
  const Contents mine = message(comm.rank(), 0, length_between(comm.rank(), 0));
  const std::vector<Contents> all = gather_bytes(comm, mine, "gather");
  std::vector<Contents> expected;
  for (int r = 0; r < comm.size(); ++r) expected.push_back(message(r, 0, length_between(r, 0)));
  EXPECT_EQ(all, comm.rank() == 0 ? expected : std::vector<Contents>());
}

void uneven_buffers_reach_all(Communicator& comm) {
  const std::vector<Contents> all =
      all_gather_bytes(comm, message(comm.rank(), 0, length_between(comm.rank(), 1)), "all_gather_bytes");
  std::vector<Contents> expected;
  for (int r = 0; r < comm.size(); ++r) expected.push_back(message(r, 0, length_between(r, 1)));
  EXPECT_EQ(all, expected);
}

void a_buffer_of_any_length_is_broadcast(Communicator& comm) {
  for (int root = 0; root < comm.size(); ++root) {
    Contents data = message(comm.rank(), 0, static_cast<std::size_t>(comm.rank()) * 77);
    broadcast_bytes(comm, data, root, "broadcast_bytes");
    EXPECT_EQ(data, message(root, 0, static_cast<std::size_t>(root) * 77));
  }
}

void sums_of_integers_are_exact(Communicator& comm) {
  const auto n = static_cast<std::uint64_t>(comm.size());
  const auto rank = static_cast<std::uint64_t>(comm.rank());
  std::vector<std::uint64_t> values{1, rank, (std::uint64_t{1} << 60) + rank * rank};
  sum_in_rank_order(comm, values, "sum");
  EXPECT_EQ(values, (std::vector<std::uint64_t>{n, n * (n - 1) / 2, (n << 60) + (n - 1) * n * (2 * n - 1) / 6}));
}

// 1e16 + 1 rounds to 1e16, so each order of adding has its own result.
void sums_of_doubles_are_added_in_rank_order(Communicator& comm) {
  const auto addend = [](int rank) { return rank % 2 == 0 ? 1e16 / (rank + 1) : 1.0 + rank; };
  double expected = addend(0);
  for (int r = 1; r < comm.size(); ++r) expected += addend(r);
  std::vector<double> values{addend(comm.rank()), -addend(comm.rank())};
  sum_in_rank_order(comm, values, "sum");
  EXPECT_EQ(values, (std::vector<double>{expected, -expected}));
  sum_in_rank_order(comm, std::span<double>(), "an empty sum");
}

void bytes_to_others_are_counted(Communicator& comm) {
  const auto others = static_cast<std::uint64_t>(comm.size() - 1);
  const std::uint64_t before = comm.bytes_sent();
  all_gather_value(comm, std::uint64_t{1}, "count");
  EXPECT_EQ(comm.bytes_sent() - before, 8 * others);
  broadcast_value(comm, std::uint64_t{1}, 0, "count");
  EXPECT_EQ(comm.bytes_sent() - before, 8 * others + (comm.rank() == 0 ? 8 * others : 0));
}

void traffic_is_told_by_call(Communicator& comm) {
  const auto others = static_cast<std::uint64_t>(comm.size() - 1);
  const double before = comm.seconds_waited();
  for (int i = 0; i < 3; ++i) all_gather_value(comm, std::uint64_t{1}, "gather by call");
  broadcast_value(comm, std::uint32_t{1}, 0, "broadcast by call");
  std::uint64_t never_waited_for = 1;
  const auto under_way = comm.start_broadcast(writable_bytes_of(never_waited_for), 0);
  const Traffic gathered = comm.traffic().at("gather by call");
  const Traffic broadcast = comm.traffic().at("broadcast by call");
  EXPECT_EQ(gathered.waits, 3U);
  EXPECT_EQ(gathered.bytes, 3 * 8 * others);
  EXPECT_EQ(broadcast.waits, 1U);
  EXPECT_EQ(broadcast.bytes, comm.rank() == 0 ? 4 * others : 0);
  EXPECT_NEAR(gathered.seconds + broadcast.seconds, comm.seconds_waited() - before, 1e-9);
  comm.wait(*under_way, "broadcast by call");
  EXPECT_EQ(comm.traffic().at("broadcast by call").bytes, comm.rank() == 0 ? 12 * others : 0);
}

// Runs agree_on_error() where the ranks for which `fails` is true bring an error.
template <typename Fails>
void expect_agreement(Communicator& comm, Fails fails, Fault fault, const std::string& start, const std::string& end) {
  std::exception_ptr mine;
  if (fails(comm.rank())) {
    mine = std::make_exception_ptr(Error(static_cast<Fault>(65 + comm.rank()), "line " + std::to_string(comm.rank())));
  }
  try {
    agree_on_error(comm, mine, "agree");
    ADD_FAILURE() << "agreed on success";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.fault(), fault);
    EXPECT_THAT(error.what(), AllOf(StartsWith(start), HasSubstr(" on "), EndsWith(end)));
  }
}

void an_error_becomes_everyones(Communicator& comm) {
  const int last = comm.size() - 1;
  const std::string rank = std::to_string(last);
  expect_agreement(
      comm, [&](int r) { return r == last; }, static_cast<Fault>(65 + last), "rank " + rank + " on ", ": line " + rank);
}

void the_lowest_failing_rank_speaks(Communicator& comm) {
  const std::string more = comm.size() == 1 ? ": line 0"
                           : comm.size() == 2
                               ? ": line 0 (and 1 more rank failed)"
                               : ": line 0 (and " + std::to_string(comm.size() - 1) + " more ranks failed)";
  expect_agreement(
      comm, [](int) { return true; }, Fault::kBadData, "rank 0 on ", more);
  if (comm.size() < 3) return;
  expect_agreement(
      comm, [](int r) { return r == 1 || r == 2; }, Fault::kNoInput, "rank 1 on ", ": line 1 (and 1 more rank failed)");
}

void agreement_on_success_is_silent_and_an_agreed_error_stays_as_it_is(Communicator& comm) {
  agree_on_error(comm, nullptr, "agree");
  const auto agreed = std::make_exception_ptr(AgreedError(Fault::kBadData, "rank 7 on moon: dust"));
  try {
    agree_on_error(comm, agreed, "agree");
    ADD_FAILURE() << "agreed on success";
  } catch (const AgreedError& error) {
    EXPECT_STREQ(error.what(), "rank 7 on moon: dust");
    EXPECT_EQ(error.fault(), Fault::kBadData);
  }
}

void any_exception_can_be_agreed_on(Communicator& comm) {
  const bool first = comm.rank() == 0;
  EXPECT_THROW(agree_on_error(comm, first ? std::make_exception_ptr(std::bad_alloc()) : nullptr, "agree"), AgreedError);
  EXPECT_THROW(agree_on_error(comm, first ? std::make_exception_ptr(42) : nullptr, "agree"), AgreedError);
}

void the_first_rank_that_differs_is_named_and_what_differs(Communicator& comm) {
  const auto require = [&](std::uint64_t leaf, std::uint64_t root, std::uint64_t stem) {
    require_equal(comm, {{"other leaves", leaf}, {"another root", root}, {"another stem", stem}}, "compare",
                  Fault::kUsage, ": prune");
  };
  require(7, 8, 9);
  for (int odd = 1; odd < comm.size(); ++odd) {
    const auto expect = [&](const std::string& others, std::uint64_t leaf, std::uint64_t root, std::uint64_t stem) {
      try {
        require(leaf, root, stem);
        ADD_FAILURE() << "found no difference";
      } catch (const AgreedError& error) {
        EXPECT_EQ(error.fault(), Fault::kUsage);
        EXPECT_EQ(error.what(),
                  rank_and_host(comm, odd) + " has " + others + " than " + rank_and_host(comm, 0) + ": prune");
      }
    };
    const auto excess = static_cast<std::uint64_t>(comm.rank() < odd ? 0 : comm.rank());
    expect("another root", 7, 8 + excess, 9);
    expect("other leaves and another stem", 7 + excess, 8, 9 + excess);
  }
}

// On a single rank the error keeps its type.
void work_done_together_fails_together(Communicator& comm) {
  int done = 0;
  run_on_all(comm, "work", [&] { ++done; });
  EXPECT_EQ(done, 1);
  const auto fails_on_rank_0 = [&] {
    if (comm.rank() == 0) throw Error(Fault::kNoInput, "no shard");
  };
  try {
    run_on_all(comm, "work", fails_on_rank_0);
    ADD_FAILURE() << "the work succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kNoInput);
    EXPECT_THAT(error.what(), EndsWith("no shard"));
    EXPECT_EQ(dynamic_cast<const AgreedError*>(&error) != nullptr, comm.size() > 1);
  }
}

void work_is_shared_out_and_all_get_what_comes_of_it(Communicator& comm) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, ranks, 5 * ranks + 2}) {
    std::vector<std::size_t> done;
    const std::uint64_t before = comm.bytes_sent();
    const std::vector<std::uint64_t> values = distribute_work(comm, count, "share", [&](std::size_t i) {
      done.push_back(i);
      return std::uint64_t{i} << 40;
    });
    ASSERT_EQ(values.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(values[i], std::uint64_t{i} << 40);
    for (const std::size_t i : done) EXPECT_EQ(i % ranks, static_cast<std::size_t>(comm.rank()));
    const std::uint64_t words = (count + ranks - 1) / ranks + (ranks > 1 ? 1 : 0);  // and one to agree
    EXPECT_EQ(comm.bytes_sent() - before, 8 * words * (ranks - 1));
  }
  const auto fails = [](std::size_t i) -> std::uint64_t { throw Error(Fault::kNoInput, "no " + std::to_string(i)); };
  EXPECT_THROW(distribute_work(comm, 1, "share", fails), Error);
}

// The ranks of these tests are on one machine.
void what_a_rank_publishes_the_others_read(Communicator& comm) {
  constexpr std::size_t kBytes = 5000;
  const SharedWindow space(comm, kBytes);
  ASSERT_EQ(space.mine().size(), kBytes);
  for (int turn = 0; turn < 3; ++turn) {
    std::ranges::copy(message(comm.rank(), turn, kBytes), space.mine().begin());
    space.publish();
    all_gather_value(comm, turn, "all have written");
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_TRUE(space.read_by(rank));
      const ConstBytes area = space.of(rank);
      EXPECT_EQ(Contents(area.begin(), area.end()), message(rank, turn, kBytes));
    }
    all_gather_value(comm, turn, "all have read");
  }
}

}  // namespace

const std::vector<Law>& laws() {
  static const std::vector<Law> all{
      {"AllGatherGivesEveryPartInRankOrder", all_gather_gives_every_part_in_rank_order},
      {"BroadcastGivesTheRootsBytesToAll", broadcast_gives_the_roots_bytes_to_all},
      {"ExchangeDeliversEachPairsBytes", exchange_delivers_each_pairs_bytes},
      {"OperationsMayOverlap", operations_may_overlap},
      {"ValuesOfAllRanksAreGathered", values_of_all_ranks_are_gathered},
      {"UnevenBuffersReachRank0Only", uneven_buffers_reach_rank_0_only},
      {"UnevenBuffersReachAll", uneven_buffers_reach_all},
      {"ABufferOfAnyLengthIsBroadcast", a_buffer_of_any_length_is_broadcast},
      {"SumsOfIntegersAreExact", sums_of_integers_are_exact},
      {"SumsOfDoublesAreAddedInRankOrder", sums_of_doubles_are_added_in_rank_order},
      {"BytesToOthersAreCounted", bytes_to_others_are_counted},
      {"TrafficIsToldByCall", traffic_is_told_by_call},
      {"AnErrorBecomesEveryones", an_error_becomes_everyones},
      {"TheLowestFailingRankSpeaks", the_lowest_failing_rank_speaks},
      {"AgreementOnSuccessIsSilentAndAnAgreedErrorStaysAsItIs",
       agreement_on_success_is_silent_and_an_agreed_error_stays_as_it_is},
      {"AnyExceptionCanBeAgreedOn", any_exception_can_be_agreed_on},
      {"TheFirstRankThatDiffersIsNamedAndWhatDiffers", the_first_rank_that_differs_is_named_and_what_differs},
      {"WorkDoneTogetherFailsTogether", work_done_together_fails_together},
      {"WorkIsSharedOutAndAllGetWhatComesOfIt", work_is_shared_out_and_all_get_what_comes_of_it},
      {"WhatARankPublishesTheOthersRead", what_a_rank_publishes_the_others_read},
  };
  static const std::vector<Law> with_deliveries = [] {
    std::vector<Law> both = all;
    both.insert(both.end(), delivery_laws().begin(), delivery_laws().end());
    return both;
  }();
  return with_deliveries;
}

}  // namespace cpt::testing
