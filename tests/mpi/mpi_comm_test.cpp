// The laws of the collectives between MPI processes. Run by mpirun; every rank runs every test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <tuple>

#include "comm/collectives.h"
#include "comm/laws.h"
#include "comm/message.h"
#include "comm/mpi/mpi.h"

namespace cpt::testing {
namespace {

// Set by main, which owns MPI.
MpiSession* session = nullptr;

std::unique_ptr<Communicator> world(std::size_t max_message = Communicator::kMaxMessage) {
  auto comm = session->world(max_message);
  comm->set_stall_timeout(std::chrono::minutes(1));
  return comm;
}

class MpiLaws : public ::testing::TestWithParam<Law> {};

TEST_P(MpiLaws, Hold) { GetParam().check(*world()); }

// Messages of 31 bytes: nearly every buffer travels as several, and its last piece is short. (Of fewer bytes there
// would be so many under way between eight ranks that matching them takes minutes.)
TEST_P(MpiLaws, HoldWhereBuffersTravelInPieces) { GetParam().check(*world(31)); }

INSTANTIATE_TEST_SUITE_P(, MpiLaws, ::testing::ValuesIn(laws()), [](const auto& test) { return name_of(test.param); });

// No rank may wait inside MPI for one that found too little memory.
TEST(MpiCommunicator, SharesNothingWhereThereIsTooLittleMemory) {
  const auto comm = world();
  for (const Bytes area : comm->share_memory(std::size_t{1} << 50)) EXPECT_TRUE(area.empty());
}

// From rank 0 to all others: one piece, several full ones, and some with a rest.
TEST(MpiCommunicator, DeliversMessagesAboveTheLargestMessage) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const auto comm = world(kPiece);
  for (const std::size_t length : {kPiece - 1, kPiece, kPiece + 1, 16 * kPiece, 16 * kPiece + 12345}) {
    const Contents data = message(0, 0, length);
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    for (int r = 1; comm->rank() == 0 && r < comm->size(); ++r) outgoing.push_back({r, data});
    if (comm->rank() > 0) incoming.emplace_back().from = 0;
    comm->wait(*comm->start_delivery(outgoing, incoming), "delivery");
    for (const Incoming& heard : incoming) EXPECT_TRUE(std::ranges::equal(heard.bytes.bytes(), data)) << length;
  }
}

// What wait() says on the last rank if rank 0 sends it `sent` bytes where it expects `expected`.
std::string error_of_uneven_exchange(Communicator& comm, std::size_t sent, std::size_t expected) {
  const std::vector<std::byte> out(sent);
  std::vector<std::byte> in(expected);
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<ConstBytes> outgoing(ranks);
  std::vector<Bytes> incoming(ranks);
  if (comm.rank() == 0) outgoing.back() = out;
  if (comm.rank() == comm.size() - 1) incoming.front() = in;
  try {
    comm.wait(*comm.start_exchange(outgoing, incoming), "uneven");
  } catch (const Error& error) {
    return describe(error);
  }
  return "no error";
}

TEST(MpiCommunicator, FindsMessagesOfTheWrongLength) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "one rank sends no message";
  const bool receives = comm->rank() == comm->size() - 1;
  EXPECT_EQ(error_of_uneven_exchange(*comm, 2, 3),
            receives ? "uneven failed: exchange: rank 0 sent 2 bytes where 3 were expected" : "no error");
  EXPECT_THAT(error_of_uneven_exchange(*comm, 3, 2), ::testing::HasSubstr(receives ? "MPI_ERR_TRUNCATE" : "no error"));
}

TEST(MpiCommunicator, KnowsTheHostsOfAllRanks) {
  const auto comm = world();
  for (int r = 0; r < comm->size(); ++r) EXPECT_EQ(comm->host_of(r), comm->host());  // the tests run on one machine
}

// Eight ranks on two cores that others use too may not be heard of for some tenths of a second.
constexpr std::chrono::milliseconds kTimeoutExtension{1500};

// A rank that lost patience goes on answering those that are still to: late to begin, they would find it silent.
void answer_the_others(Communicator& comm, std::chrono::milliseconds duration = kTimeoutExtension,
                       WaitsFor waits_for = WaitsFor::kRanks) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end) {
    comm.answer_roll_call(waits_for);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Every rank waits for what its neighbour never sends: all are alive, so none is named.
template <class Start>
void expect_all_to_wait(const char* call, Start start) {
  const auto comm = world();
  if (comm->size() == 1) GTEST_SKIP() << "one rank waits for nobody";
  all_gather_value(*comm, comm->rank(), "all begin at about the same time");
  comm->set_stall_timeout(kTimeoutExtension);
  std::byte byte{};
  std::vector<Incoming> incoming(1);
  const std::unique_ptr<Operation> lost = start(*comm, (comm->rank() + 1) % comm->size(), Bytes(&byte, 1), incoming);
  try {
    comm->wait(*lost, call);
    ADD_FAILURE() << "received what nobody sent";
  } catch (const StallError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("in " + std::string(call) + ": all ranks are waiting"));
  }
  answer_the_others(*comm);
}

TEST(MpiCommunicator, TellsWaitingRanksFromSilentOnes) {
  expect_all_to_wait("a lost message", [](Communicator& comm, int neighbour, Bytes byte, auto&) {
    std::vector<Bytes> incoming(static_cast<std::size_t>(comm.size()));
    incoming[static_cast<std::size_t>(neighbour)] = byte;
    return comm.start_exchange(std::vector<ConstBytes>(incoming.size()), incoming);
  });
  expect_all_to_wait("a lost delivery", [](Communicator& comm, int neighbour, Bytes, auto& incoming) {
    incoming[0].from = neighbour;
    return comm.start_delivery({}, incoming);
  });
}

TEST(MpiCommunicator, WaitsForARankThatWaitsForInput) {
  const auto comm = world();
  const std::vector<int> before = all_gather_value(*comm, comm->rank(), "all begin at about the same time");
  comm->set_stall_timeout(kTimeoutExtension);
  if (comm->rank() == comm->size() - 1) answer_the_others(*comm, 3 * kTimeoutExtension, WaitsFor::kInput);
  EXPECT_EQ(all_gather_value(*comm, comm->rank(), "meeting"), before);
}

TEST(MpiVersion, IsOneLine) {
  EXPECT_FALSE(mpi_version().empty());
  EXPECT_EQ(mpi_version().find('\n'), std::string::npos);
}

}  // namespace

// Says what fails on a rank that does not report.
class Failures : public ::testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) {}
  // GoogleTest holds a lock while it tells of a result, and takes it again where it is asked for the test.
  void OnTestStart(const ::testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d, %s: %s:%d: %s\n", rank_, test_.c_str(), result.file_name() ? result.file_name() : "",
                 result.line_number(), result.summary());
  }

 private:
  int rank_;
  std::string test_;
};

// One rank reports; the others speak only of what fails.
int run(int argc, char** argv) {
  MpiSession mpi;
  session = &mpi;
  ::testing::InitGoogleTest(&argc, argv);
  const auto comm = mpi.world();
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (comm->rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(comm->rank()));  // whose owner is GoogleTest
  }
  const int failed = RUN_ALL_TESTS();
  if (failed != 0) std::fprintf(stderr, "rank %d of %d failed\n", comm->rank(), comm->size());
  for (const int other : all_gather_value(*comm, failed, "results")) {
    if (other != 0) return 1;
  }
  return 0;
}

}  // namespace cpt::testing

int main(int argc, char** argv) { return cpt::testing::run(argc, argv); }
