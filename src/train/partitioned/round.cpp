#include "train/partitioned/round.h"

#include <algorithm>
#include <optional>

namespace cpt {

namespace {

enum class Frame : std::uint8_t { kMessage, kReference };

ConstBytes open(const Incoming& incoming, const SharedMessageRing& shelf) {
  const ConstBytes frame = incoming.bytes.bytes();
  const ConstBytes content = frame.first(frame.size() - sizeof(Frame));
  if (read_front<Frame>(frame.last(sizeof(Frame))) == Frame::kMessage) return content;
  return shelf.get(incoming.from, read_front<SharedMessageRing::Place>(content));
}

}  // namespace

// What is sent ends with a byte that tells whether it is the message, or a notice of where on the shelf that lies.
void RankMessages::start(Communicator& comm, SharedMessageRing& shelf, const std::vector<int>& to,
                         const std::vector<int>& from) {
  std::vector<Outgoing> frames;
  for (const int rank : to) {
    if (rank == comm.rank()) continue;
    Buffer& message = outgoing_[static_cast<std::size_t>(rank)];
    Buffer& notice = references_[static_cast<std::size_t>(rank)];
    const std::optional<SharedMessageRing::Place> place = shelf.put(rank, message.bytes());
    if (place) notice.append(&*place, sizeof *place);
    Buffer& frame = place ? notice : message;
    const Frame kind = place ? Frame::kReference : Frame::kMessage;
    frame.append(&kind, sizeof kind);
    frames.push_back({rank, frame.bytes()});
  }
  shelf.publish();
  from_self_ = std::ranges::count(from, comm.rank()) > 0;
  incoming_.resize(from.size() - (from_self_ ? 1 : 0));
  auto next = incoming_.begin();
  for (const int rank : from) {
    if (rank != comm.rank()) (next++)->from = rank;
  }
  operation_ = comm.start_delivery(std::move(frames), incoming_);
}

void RankMessages::wait(Communicator& comm, const char* call) {
  comm.wait(*operation_, call);
  operation_.reset();
}

std::vector<RankMessages::Message> RankMessages::received(int self, const SharedMessageRing& shelf) const {
  std::vector<Message> messages;
  const Message mine{self, outgoing_[static_cast<std::size_t>(self)].bytes()};
  bool mine_is_due = from_self_;
  for (const Incoming& incoming : incoming_) {
    if (mine_is_due && incoming.from > self) {
      messages.push_back(mine);
      mine_is_due = false;
    }
    messages.push_back({incoming.from, open(incoming, shelf)});
  }
  if (mine_is_due) messages.push_back(mine);
  return messages;
}

void RankMessages::clear() {
  for (Buffer& message : outgoing_) message.clear();
  for (Buffer& notice : references_) notice.clear();
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
