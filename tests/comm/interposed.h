// A communicator that does something before each of its collectives.
#pragma once

#include <cstdint>
#include <functional>

#include "comm/communicator.h"

namespace cpt {

// Told the number of the collective that is about to start: 0, 1, 2, ...
using BeforeCall = std::function<void(std::uint64_t call)>;

// Everything else is the inner communicator's, which must outlive it.
class Interposed : public Communicator {
 public:
  Interposed(Communicator& inner, BeforeCall before) : inner_(inner), before_(std::move(before)) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string host_of(int rank) const override { return inner_.host_of(rank); }
  RollCallResult call_roll(std::chrono::milliseconds grace) override { return inner_.call_roll(grace); }
  void answer_roll_call(WaitsFor waits_for) override { inner_.answer_roll_call(waits_for); }
  void advance() override { inner_.advance(); }
  std::vector<Bytes> allocate_shared(std::size_t bytes) override { return inner_.allocate_shared(bytes); }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    before();
    return inner_.start_all_gather(mine, all);
  }
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override {
    before();
    return inner_.start_broadcast(data, root);
  }
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    before();
    return inner_.start_exchange(std::move(outgoing), std::move(incoming));
  }
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming) override {
    before();
    return inner_.start_delivery(std::move(outgoing), incoming);
  }

 private:
  void before() {
    const std::uint64_t call = calls_++;
    if (before_) before_(call);
  }

  Communicator& inner_;
  BeforeCall before_;
  std::uint64_t calls_ = 0;
};

}  // namespace cpt
