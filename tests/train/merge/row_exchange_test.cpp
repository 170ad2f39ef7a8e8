// What ranks of one machine read of one another, and what they send to others.
#include "train/merge/row_exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "comm/collectives.h"
#include "comm/on_machines.h"
#include "comm/threads/threads.h"

namespace cpt {
namespace {

struct Setting {
  int ranks;
  int machines;        // 0: one, without memory to share
  std::uint64_t most;  // records in shared memory
};

class ExchangedRows : public ::testing::TestWithParam<Setting> {
 protected:
  // Of each rank in a round, for each rank.
  static std::uint64_t records(int from, int to, std::uint64_t round) {
    return (static_cast<std::uint64_t>(from) * 7 + static_cast<std::uint64_t>(to) * 3 + round) % 5;
  }
  static RowRecord record(int from, int to, std::uint64_t round, std::uint64_t i) {
    RowRecord record{round * 1000 + i, {}};
    record.row[0] = static_cast<float>(from);
    record.row[kLanes - 1] = static_cast<float>(to);
    return record;
  }
  static void expect_records(RowRecords received, int from, int to, std::uint64_t round) {
    ASSERT_EQ(received.size(), records(from, to, round));
    for (std::uint64_t i = 0; i < received.size(); ++i) {
      const RowRecord expected = record(from, to, round, i);
      EXPECT_EQ(received[i].index, expected.index);
      EXPECT_EQ(received[i].row, expected.row);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Settings, ExchangedRows,
                         ::testing::Values(Setting{1, 1, 100}, Setting{3, 1, 100}, Setting{3, 0, 100},
                                           Setting{5, 2, 100}, Setting{5, 5, 100}, Setting{5, 2, 8}, Setting{3, 1, 0}));

TEST_P(ExchangedRows, ArriveInTheirOrder) {
  run_threads(GetParam().ranks, [](Communicator& threads) {
    OnMachines comm(threads, GetParam().machines);
    RowExchange exchange(comm, GetParam().most);
    for (std::uint64_t round = 0; round < 6; ++round) {
      std::vector<RowRecord> mine;
      std::vector<std::size_t> ends{0};
      for (int to = 0; to < comm.size(); ++to) {
        for (std::uint64_t i = 0; i < records(comm.rank(), to, round); ++i) {
          mine.push_back(record(comm.rank(), to, round, i));
        }
        ends.push_back(mine.size());
      }
      const std::span<RowRecord> room = exchange.room(mine.size());
      ASSERT_EQ(room.size(), mine.size());
      std::ranges::copy(mine, room.begin());
      RecordsOfRanks outgoing;
      for (std::size_t to = 0; to + 1 < ends.size(); ++to) {
        outgoing.push_back(room.subspan(ends[to], ends[to + 1] - ends[to]));
      }
      const RecordsOfRanks received = exchange.exchange(outgoing, "test");
      for (int from = 0; from < comm.size(); ++from) {
        expect_records(received[static_cast<std::size_t>(from)], from, comm.rank(), round);
      }
      all_gather_value(comm, 0, "all have read");
    }
  });
}

// The bytes that two ranks send each other: announcements, and records if they are not read in place.
TEST(RowExchange, SendsOnlyWhatOthersDoNotReadInPlace) {
  constexpr std::uint64_t kRecords = 10;
  constexpr std::uint64_t kAnnounced = 2 * 16;
  for (const auto& [machines, most, bytes] :
       {std::tuple{1, 10U, kAnnounced}, {1, 9U, kAnnounced + kRecords * 72}, {2, 10U, kAnnounced + kRecords * 72}}) {
    run_threads(2, [&](Communicator& threads) {
      OnMachines comm(threads, machines);
      RowExchange exchange(comm, most);
      const std::span<RowRecord> room = exchange.room(kRecords);
      std::ranges::fill(room, RowRecord{});
      const std::uint64_t before = comm.bytes_sent();
      exchange.exchange(RecordsOfRanks(2, room), "test");
      EXPECT_EQ(comm.bytes_sent() - before, bytes);
      all_gather_value(comm, 0, "all have read");
    });
  }
}

}  // namespace
}  // namespace cpt
