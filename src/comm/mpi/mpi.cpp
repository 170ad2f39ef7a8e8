// Only this file and mpi_*.h and mpi_*.cpp beside it include MPI headers. They use MPI 3.1: through Boost.MPI where it
// has the call (it has no non-blocking collectives), and on Boost's communicator elsewhere.
#include "comm/mpi/mpi.h"

#include <mpi.h>

#include <algorithm>
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/serialization/string.hpp>
#include <cstdlib>
#include <list>
#include <thread>

#include "comm/mpi/mpi_messages.h"
#include "comm/mpi/mpi_windows.h"

namespace cpt {
namespace {

namespace mpi = boost::mpi;

// Calls body() and turns exceptions of Boost.MPI into ours.
template <typename Body>
auto translated(Body body) {
  try {
    return body();
  } catch (const mpi::exception& error) {
    throw Error(Fault::kFailed, error.what());
  }
}

// The watchdog's questions and answers, on their own communicator. Both carry the number of the question, so a late
// answer is not taken for an answer to a later question.
class RollCall {
 public:
  explicit RollCall(const mpi::communicator& world) : comm_(world, mpi::comm_duplicate) {}

  RollCallResult ask(std::chrono::milliseconds grace) {
    const auto end = std::chrono::steady_clock::now() + grace;
    ++question_;
    RollCallResult result;
    std::vector<bool> silent(static_cast<std::size_t>(comm_.size()), true);
    silent[static_cast<std::size_t>(comm_.rank())] = false;
    for (int rank = 0; rank < comm_.size(); ++rank) {
      if (rank != comm_.rank()) send(rank, kQuestion, question_);
    }
    while (std::ranges::count(silent, true) > 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      answer(WaitsFor::kRanks);
      take_answers(kWaitsForRanks, silent);
      if (take_answers(kWaitsForInput, silent)) result.input_is_awaited = true;
    }
    for (int rank = 0; rank < comm_.size(); ++rank) {
      if (silent[static_cast<std::size_t>(rank)]) result.silent.push_back(rank);
    }
    return result;
  }

  void answer(WaitsFor waits_for) {
    sent_.remove_if([](Note& note) { return note.request.test().has_value(); });
    while (const auto question = comm_.iprobe(mpi::any_source, kQuestion)) {
      std::uint64_t number = 0;
      comm_.recv(question->source(), kQuestion, number);
      send(question->source(), waits_for == WaitsFor::kInput ? kWaitsForInput : kWaitsForRanks, number);
    }
  }

 private:
  enum Tag : int { kQuestion = 1, kWaitsForRanks = 2, kWaitsForInput = 3 };  // the last two are answers
  struct Note {
    std::uint64_t number;
    mpi::request request;
  };

  // Never blocks, even if the receiver is stopped: the note stays in sent_.
  void send(int rank, Tag tag, std::uint64_t number) {
    Note& note = sent_.emplace_back(Note{number, {}});
    note.request = comm_.isend(rank, tag, note.number);
  }

  // Returns whether there was one to the current question.
  bool take_answers(Tag tag, std::vector<bool>& silent) {
    bool any = false;
    while (const auto answer = comm_.iprobe(mpi::any_source, tag)) {
      std::uint64_t number = 0;
      comm_.recv(answer->source(), tag, number);
      if (number != question_) continue;
      silent[static_cast<std::size_t>(answer->source())] = false;
      any = true;
    }
    return any;
  }

  mpi::communicator comm_;
  std::uint64_t question_ = 0;
  std::list<Note> sent_;  // a list, because addresses must not change
};

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator(const mpi::communicator& world, MpiWindows& windows, std::size_t max_message)
      : comm_(world, mpi::comm_duplicate), roll_call_(world), windows_(windows), max_message_(max_message) {
    mpi::all_gather(comm_, host_name(), hosts_);
  }

  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  std::string host_of(int rank) const override { return hosts_.at(static_cast<std::size_t>(rank)); }

  RollCallResult call_roll(std::chrono::milliseconds grace) override {
    return translated([&] { return roll_call_.ask(grace); });
  }
  void answer_roll_call(WaitsFor waits_for) override {
    translated([&] { roll_call_.answer(waits_for); });
  }
  void advance() override { deliveries_.advance(); }
  std::vector<Bytes> allocate_shared(std::size_t bytes) override { return windows_.allocate(comm_, bytes); }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override;
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override;
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override;
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming) override;

 private:
  // Each exchange or delivery has its own tag, so that those that overlap do not mix. Pieces of one stay in order
  // anyway.
  int next_tag() {
    const auto tags = static_cast<std::uint64_t>(mpi::environment::max_tag()) + 1;
    return static_cast<int>(exchanges_++ % tags);
  }

  // Calls body(piece) for each piece of max_message_ bytes and for the rest.
  template <typename Span, typename Body>
  void for_each_piece(Span bytes, Body body) const {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(max_message_, bytes.size()))) {
      body(bytes.first(std::min(max_message_, bytes.size())));
    }
  }

  mpi::communicator comm_;
  RollCall roll_call_;
  MpiWindows& windows_;
  std::size_t max_message_;
  std::vector<std::string> hosts_;  // by rank
  std::uint64_t exchanges_ = 0;     // and deliveries, started so far
  MpiDeliveries deliveries_;
};

std::unique_ptr<Operation> MpiCommunicator::begin_all_gather(ConstBytes mine, Bytes all) {
  // Inside MPI, one message may carry the parts of many ranks, so the whole must be small. Otherwise every rank sends
  // its part to every other, which moves the same bytes.
  if (all.size() > max_message_) {
    const auto ranks = static_cast<std::size_t>(size());
    std::vector<Bytes> incoming;
    for (std::size_t r = 0; r < ranks; ++r) incoming.push_back(all.subspan(r * mine.size(), mine.size()));
    return begin_exchange(std::vector<ConstBytes>(ranks, mine), std::move(incoming));
  }
  auto operation = std::make_unique<MpiOperation>();
  if (mine.empty()) return operation;
  const int count = mpi_count(mine.size());
  check_mpi(MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_, operation->add()),
            "MPI_Iallgather");
  return operation;
}

std::unique_ptr<Operation> MpiCommunicator::begin_broadcast(Bytes data, int root) {
  auto operation = std::make_unique<MpiOperation>();
  // All pieces start now: if each started when the previous one is done, the order of collectives would differ between
  // ranks.
  for_each_piece(data, [&](Bytes piece) {
    check_mpi(MPI_Ibcast(piece.data(), mpi_count(piece.size()), MPI_BYTE, root, comm_, operation->add()), "MPI_Ibcast");
  });
  return operation;
}

std::unique_ptr<Operation> MpiCommunicator::begin_exchange(std::vector<ConstBytes> outgoing,
                                                           std::vector<Bytes> incoming) {
  auto operation = std::make_unique<MpiOperation>();
  const int tag = next_tag();
  const int self = rank();
  std::ranges::copy(outgoing[static_cast<std::size_t>(self)], incoming[static_cast<std::size_t>(self)].begin());
  // Each rank begins with its right-hand neighbor, so that not all send to rank 0 first.
  for (int step = 1; step < size(); ++step) {
    const int source = (self + size() - step) % size();
    for_each_piece(incoming[static_cast<std::size_t>(source)], [&](Bytes piece) {
      const int count = mpi_count(piece.size());
      check_mpi(MPI_Irecv(piece.data(), count, MPI_BYTE, source, tag, comm_, operation->add(count)), "MPI_Irecv");
    });
  }
  for (int step = 1; step < size(); ++step) {
    const int target = (self + step) % size();
    for_each_piece(outgoing[static_cast<std::size_t>(target)], [&](ConstBytes piece) {
      check_mpi(MPI_Isend(piece.data(), mpi_count(piece.size()), MPI_BYTE, target, tag, comm_, operation->add()),
                "MPI_Isend");
    });
  }
  return operation;
}

std::unique_ptr<Operation> MpiCommunicator::begin_delivery(std::vector<Outgoing> outgoing,
                                                           std::vector<Incoming>& incoming) {
  return deliveries_.begin({comm_, next_tag(), max_message_}, outgoing, incoming);
}

}  // namespace

class MpiSession::State {
 public:
  State() : environment_(mpi::threading::funneled, /*abort_on_exception=*/false) {
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    // Other threads parse input while the main thread calls MPI.
    if (mpi::environment::thread_level() < mpi::threading::funneled) {
      throw Error(Fault::kFailed,
                  "this MPI cannot be used beside threads (MPI_THREAD_FUNNELED is not provided): " + mpi_version());
    }
  }

  MpiWindows& windows() { return windows_; }

 private:
  mpi::environment environment_;
  MpiWindows windows_;
};

MpiSession::MpiSession() : state_(translated([] { return std::make_unique<State>(); })) {}

MpiSession::~MpiSession() = default;

std::unique_ptr<Communicator> MpiSession::world(std::size_t max_message) {
  return translated(
      [&] { return std::make_unique<MpiCommunicator>(mpi::communicator(), state_->windows(), max_message); });
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);  // MPI_Abort may return if it fails
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "unknown MPI";
  const std::string version(text);  // Open MPI counts the final zero as part of it
  return version.substr(0, version.find('\n'));
}

}  // namespace cpt
