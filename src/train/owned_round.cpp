#include "train/owned_round.h"

#include <algorithm>

namespace cpt {

void Mail::start(Communicator& comm, const std::vector<int>& to, const std::vector<int>& from) {
  std::vector<Outgoing> messages;
  for (const int rank : to) {
    if (rank != comm.rank()) messages.push_back({rank, outgoing_[static_cast<std::size_t>(rank)].bytes()});
  }
  from_self_ = std::ranges::count(from, comm.rank()) > 0;
  incoming_.resize(from.size() - (from_self_ ? 1 : 0));
  auto next = incoming_.begin();
  for (const int rank : from) {
    if (rank != comm.rank()) (next++)->from = rank;
  }
  operation_ = comm.start_delivery(std::move(messages), incoming_);
}

void Mail::wait(Communicator& comm, const char* call) {
  comm.wait(*operation_, call);
  operation_.reset();
}

std::vector<Mail::Message> Mail::received(int self) const {
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

void Mail::clear() {
  for (Buffer& buffer : outgoing_) buffer.clear();
}

void Round::clear() {
  next = Step::kRoot;
  is_void = false;
  loads = {};
  arrival_reader.clear();
  arrivals.clear();
  results.findings.clear();
  results.root.clear();
  results.changes.clear();
  book.changes.clear();
  for (Mail* mail : {&examples, &root_hops, &level1_hops, &findings}) mail->clear();
}

void Round::begin_hops(Mail& mail) {
  results.hops.clear();
  for (Buffer& message : mail.outgoing()) {
    message.extend(sizeof(HopNews));
    results.hops.emplace_back(message);
  }
}

}  // namespace cpt
