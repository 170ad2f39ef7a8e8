#include "train/partitioned/round.h"

#include <algorithm>

namespace cpt {

void RankMessages::start(Communicator& comm, const std::vector<int>& to, const std::vector<int>& from) {
  std::vector<Outgoing> outgoing;
  for (const int rank : to) {
    if (rank != comm.rank()) outgoing.push_back({rank, outgoing_[static_cast<std::size_t>(rank)].bytes()});
  }
  from_self_ = std::ranges::count(from, comm.rank()) > 0;
  incoming_.resize(from.size() - (from_self_ ? 1 : 0));
  auto next = incoming_.begin();
  for (const int rank : from) {
    if (rank != comm.rank()) (next++)->from = rank;
  }
  operation_ = comm.start_delivery(std::move(outgoing), incoming_);
}

void RankMessages::wait(Communicator& comm, const char* call) {
  comm.wait(*operation_, call);
  operation_.reset();
}

std::vector<RankMessages::Message> RankMessages::received(int self) const {
  std::vector<Message> messages;
  const Message own{self, outgoing_[static_cast<std::size_t>(self)].bytes()};
  bool own_is_due = from_self_;
  for (const Incoming& incoming : incoming_) {
    if (own_is_due && incoming.from > self) {
      messages.push_back(own);
      own_is_due = false;
    }
    messages.push_back({incoming.from, incoming.bytes.bytes()});
  }
  if (own_is_due) messages.push_back(own);
  return messages;
}

void RankMessages::clear() {
  for (Buffer& message : outgoing_) message.clear();
}

void Round::clear() {
  next = Step::kRoot;
  is_void = false;
  loads = {};
  routed_examples.clear();
  results.clear();
  ledger.clear();
  examples_of_all = 0;
  reports.clear();
  splits.clear();
  for (RankMessages* messages : all_messages()) messages->clear();
}

void Round::begin_hops(RankMessages& messages) {
  results.hops.clear();
  for (Buffer& message : messages.outgoing()) {
    message.extend(sizeof(HopHeader));
    results.hops.emplace_back(message);
  }
}

}  // namespace cpt
