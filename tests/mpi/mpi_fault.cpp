// A small job that breaks: mpi_fault MISFORTUNE RANK CALL. All ranks meet again and again; at its call the rank suffers
// throw, kill, stop or sleep. Whoever notices says so and ends the job, as main functions do.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "comm/faulty.h"
#include "comm/mpi/mpi.h"

namespace cpt::testing {
namespace {

void sleep_long() { std::this_thread::sleep_for(std::chrono::minutes(10)); }

const std::map<std::string, std::function<void()>> kMisfortunes{
    {"throw", throw_error}, {"kill", kill_process}, {"stop", stop_process}, {"sleep", sleep_long}};

// Longer than a busy machine keeps a rank waiting.
constexpr std::chrono::seconds kStallTimeout{3};

// Each meeting is a piece of work that may fail on one rank, and the agreement on its outcome.
void meet_often(Communicator& comm, Communicator& faulty) {
  for (int meeting = 0; meeting < 100; ++meeting) {
    std::exception_ptr mine;
    try {
      all_gather_value(faulty, meeting, "meeting");
    } catch (const StallError&) {
      throw;
    } catch (const Error&) {
      mine = std::current_exception();
      all_gather_value(comm, meeting, "meeting");  // the others are there already
    }
    agree_on_error(comm, mine, "outcome of the meeting");
  }
}

int run(const std::string& misfortune, int rank, std::uint64_t call) {
  MpiSession session;
  const auto comm = session.world();
  comm->set_stall_timeout(kStallTimeout);
  Faulty faulty(*comm, rank, call, kMisfortunes.at(misfortune));
  faulty.set_stall_timeout(kStallTimeout);
  try {
    meet_often(*comm, faulty);
    return 0;
  } catch (const AgreedError& error) {
    if (comm->rank() == 0) std::fprintf(stderr, "all agree: %s\n", error.what());
    return static_cast<int>(error.fault());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", describe(error).c_str());
    session.abort(3);
  }
}

}  // namespace
}  // namespace cpt::testing

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return cpt::testing::run(argv[1], std::atoi(argv[2]), static_cast<std::uint64_t>(std::atoi(argv[3])));
}
