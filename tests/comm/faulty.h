// A communicator that breaks on purpose: at one call of one rank.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>

#include "comm/communicator.h"

namespace cpt::testing {

// When its rank starts collective number `call` (0, 1, ...), the wrapper runs `misfortune` first. It may throw, sleep,
// or end the process. Everything else is the inner communicator's, which must outlive the wrapper.
class Faulty : public Communicator {
 public:
  Faulty(Communicator& inner, int rank, std::uint64_t call, std::function<void()> misfortune)
      : inner_(inner), rank_(rank), call_(call), misfortune_(std::move(misfortune)) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string host_of(int rank) const override { return inner_.host_of(rank); }
  std::vector<int> silent_ranks(std::chrono::milliseconds grace) override { return inner_.silent_ranks(grace); }
  void answer_roll_call() override { inner_.answer_roll_call(); }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    count_call();
    return inner_.start_all_gather(mine, all);
  }
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override {
    count_call();
    return inner_.start_broadcast(data, root);
  }
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    count_call();
    return inner_.start_exchange(std::move(outgoing), std::move(incoming));
  }

 private:
  void count_call() {
    if (calls_++ == call_ && rank() == rank_) misfortune_();
  }

  Communicator& inner_;
  int rank_;
  std::uint64_t call_;
  std::function<void()> misfortune_;
  std::uint64_t calls_ = 0;
};

// Misfortunes.
inline void throw_error() { throw Error(Fault::kFailed, "broken on purpose"); }
inline void kill_process() { std::raise(SIGKILL); }
inline void stop_process() { std::raise(SIGSTOP); }  // for ever, unless someone sends SIGCONT

}  // namespace cpt::testing
