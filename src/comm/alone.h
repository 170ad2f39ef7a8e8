// The communicator of a job of one rank: every collective is a copy or nothing.
#pragma once

#include "comm/communicator.h"

namespace cpt {

class Alone : public Communicator {
 public:
  Alone();

  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string host_of(int) const override { return host_; }
  std::vector<int> silent_ranks(std::chrono::milliseconds) override { return {}; }
  void answer_roll_call() override {}
  void advance() override {}
  std::vector<Bytes> allocate_shared(std::size_t bytes) override;

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override;
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override;
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override;
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming) override;

 private:
  std::string host_;
  std::vector<Buffer> memory_;  // of share_memory()
};

}  // namespace cpt
