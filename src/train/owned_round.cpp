#include "train/owned_round.h"

#include <algorithm>
#include <optional>

namespace cpt {

namespace {

enum class Letter : std::uint8_t { kMessage, kNotice };

ConstBytes open(const Incoming& incoming, const MessageShelf& shelf) {
  const ConstBytes letter = incoming.bytes.bytes();
  const ConstBytes content = letter.first(letter.size() - sizeof(Letter));
  if (read_front<Letter>(letter.last(sizeof(Letter))) == Letter::kMessage) return content;
  return shelf.get(incoming.from, read_front<MessageShelf::Place>(content));
}

}  // namespace

// What is sent ends with a byte that tells whether it is the message, or a notice of where on the shelf that lies.
void Mail::start(Communicator& comm, MessageShelf& shelf, const std::vector<int>& to, const std::vector<int>& from) {
  std::vector<Outgoing> letters;
  for (const int rank : to) {
    if (rank == comm.rank()) continue;
    Buffer& message = outgoing_[static_cast<std::size_t>(rank)];
    Buffer& notice = notices_[static_cast<std::size_t>(rank)];
    const std::optional<MessageShelf::Place> place = shelf.put(rank, message.bytes());
    if (place) notice.append(&*place, sizeof *place);
    Buffer& letter = place ? notice : message;
    const Letter kind = place ? Letter::kNotice : Letter::kMessage;
    letter.append(&kind, sizeof kind);
    letters.push_back({rank, letter.bytes()});
  }
  shelf.publish();
  from_self_ = std::ranges::count(from, comm.rank()) > 0;
  incoming_.resize(from.size() - (from_self_ ? 1 : 0));
  auto next = incoming_.begin();
  for (const int rank : from) {
    if (rank != comm.rank()) (next++)->from = rank;
  }
  operation_ = comm.start_delivery(std::move(letters), incoming_);
}

void Mail::wait(Communicator& comm, const char* call) {
  comm.wait(*operation_, call);
  operation_.reset();
}

std::vector<Mail::Message> Mail::received(int self, const MessageShelf& shelf) const {
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

void Mail::clear() {
  for (Buffer& message : outgoing_) message.clear();
  for (Buffer& notice : notices_) notice.clear();
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
