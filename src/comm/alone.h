// The communicator of a job of one rank: every collective is a copy or nothing.
#pragma once

#include <algorithm>

#include "comm/communicator.h"

namespace cpt {

class Alone : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host_of(int) const override { return host_; }
  RollCallResult call_roll(std::chrono::milliseconds) override { return {}; }
  void answer_roll_call(WaitsFor) override {}
  void advance() override {}
  std::vector<Bytes> allocate_shared(std::size_t bytes) override {
    shared_.emplace_back().resize(bytes);
    return {shared_.back().bytes()};
  }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    std::ranges::copy(mine, all.begin());
    return std::make_unique<Finished>();
  }
  std::unique_ptr<Operation> begin_broadcast(Bytes, int) override { return std::make_unique<Finished>(); }
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    return begin_all_gather(outgoing[0], incoming[0]);
  }
  // Both lists are empty, since there is no other rank.
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing>, std::vector<Incoming>&) override {
    return std::make_unique<Finished>();
  }

 private:
  class Finished : public Operation {
   public:
    bool done() override { return true; }
  };

  std::string host_ = host_name();
  std::vector<Buffer> shared_;  // by allocation
};

}  // namespace cpt
