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
  const Message mine{self, outgoing_[static_cast<std::size_t>(self)].bytes()};
  bool mine_is_due = from_self_;
  for (const Incoming& incoming : incoming_) {
    if (mine_is_due && incoming.from > self) {
      messages.push_back(mine);
      mine_is_due = false;
    }
    messages.push_back({incoming.from, incoming.bytes.bytes()});
  }
  if (mine_is_due) messages.push_back(mine);
  return messages;
}

void RankMessages::clear() {
  for (Buffer& message : outgoing_) message.clear();
}

void Round::clear() {
  next = Step::kRoot;
  is_void = false;
  loads = {};
  arrival_reader.clear();
  routed_examples.clear();
  results.partials.clear();
  results.root.clear();
  results.changes.clear();
  ledger.changes.clear();
  for (RankMessages* mail : {&examples, &root_hops, &level1_hops, &partials}) mail->clear();
}

void Round::begin_hops(RankMessages& mail) {
  results.hops.clear();
  for (Buffer& message : mail.outgoing()) {
    message.extend(sizeof(HopHeader));
    results.hops.emplace_back(message);
  }
}

}  // namespace cpt
