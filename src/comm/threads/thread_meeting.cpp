#include "comm/threads/thread_meeting.h"

#include <algorithm>

namespace cpt {
namespace {

std::string describe_call(int rank, const ThreadCall& call) {
  const std::string who = "rank " + std::to_string(rank) + " in ";
  const std::string size = " of " + std::to_string(call.bytes) + " bytes";
  switch (call.kind) {
    case ThreadCall::Kind::kAllGather:
      return who + "all_gather" + size;
    case ThreadCall::Kind::kBroadcast:
      return who + "broadcast" + size + " from rank " + std::to_string(call.root);
    case ThreadCall::Kind::kExchange:
      return who + "exchange";
    case ThreadCall::Kind::kDelivery:
      return who + "delivery";
  }
  return who + "an unknown call";
}

}  // namespace

ThreadCall ThreadCall::all_gather(ConstBytes mine, Bytes all) {
  ThreadCall call{Kind::kAllGather, mine.size(), 0, {}, {}, {}, {}};
  const std::size_t ranks = mine.empty() ? 0 : all.size() / mine.size();
  for (std::size_t r = 0; r < ranks; ++r) {
    call.outgoing.push_back(mine);
    call.incoming.push_back(all.subspan(r * mine.size(), mine.size()));
  }
  return call;
}

ThreadCall ThreadCall::broadcast(Bytes data, int root, int rank, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  ThreadCall call{Kind::kBroadcast, data.size(), root, std::vector<ConstBytes>(n), std::vector<Bytes>(n), {}, {}};
  if (rank == root) {
    std::ranges::fill(call.outgoing, data);
    call.outgoing[static_cast<std::size_t>(root)] = {};
  } else {
    call.incoming[static_cast<std::size_t>(root)] = data;
  }
  return call;
}

ThreadCall ThreadCall::exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) {
  return {Kind::kExchange, 0, 0, std::move(outgoing), std::move(incoming), {}, {}};
}

ThreadCall ThreadCall::delivery(std::vector<Outgoing> messages, std::span<Incoming> expected) {
  return {Kind::kDelivery, 0, 0, {}, {}, std::move(messages), expected};
}

void Meeting::join(int rank, ThreadCall call) {
  if (joined_ == 0) first_ = rank;
  check_against_first(rank, call);
  calls_[static_cast<std::size_t>(rank)] = std::move(call);
  if (++joined_ < calls_.size()) return;
  move_data();
  complete_.store(true, std::memory_order_release);
}

void Meeting::check_against_first(int rank, const ThreadCall& call) const {
  if (joined_ == 0) return;
  const ThreadCall& first = *calls_[static_cast<std::size_t>(first_)];
  if (call.kind == first.kind && call.bytes == first.bytes && call.root == first.root) return;
  throw Error(Fault::kFailed,
              "the ranks' collectives differ: " + describe_call(first_, first) + ", " + describe_call(rank, call));
}

void Meeting::move_data() {
  if (calls_[0]->kind == ThreadCall::Kind::kDelivery) return deliver();
  const std::size_t ranks = calls_[0]->outgoing.size();  // 0 if the collective is empty
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const ConstBytes sent = calls_[from]->outgoing[to];
      const Bytes room = calls_[to]->incoming[from];
      if (sent.size() != room.size()) {
        throw Error(Fault::kFailed, "exchange: rank " + std::to_string(from) + " sends " + std::to_string(sent.size()) +
                                        " bytes to rank " + std::to_string(to) + ", which expects " +
                                        std::to_string(room.size()));
      }
      std::ranges::copy(sent, room.begin());
    }
  }
}

void Meeting::deliver() {
  const int ranks = static_cast<int>(calls_.size());
  for (int to = 0; to < ranks; ++to) {
    for (const Incoming& incoming : calls_[static_cast<std::size_t>(to)]->expected) expect_message(incoming.from, to);
  }
  for (int from = 0; from < ranks; ++from) {
    for (const Outgoing& message : calls_[static_cast<std::size_t>(from)]->messages) {
      Buffer& bytes = entry(from, message.to).bytes;
      bytes.clear();
      bytes.append(message.bytes.data(), message.bytes.size());
    }
  }
}

Incoming& Meeting::entry(int from, int to) const {
  const std::span<Incoming> expected = calls_[static_cast<std::size_t>(to)]->expected;
  const auto found = std::ranges::find(expected, from, &Incoming::from);
  if (found != expected.end()) return *found;
  throw Error(Fault::kFailed, "delivery: rank " + std::to_string(from) + " sends to rank " + std::to_string(to) +
                                  ", which does not expect it");
}

void Meeting::expect_message(int from, int to) const {
  const auto& messages = calls_[static_cast<std::size_t>(from)]->messages;
  if (std::ranges::find(messages, to, &Outgoing::to) != messages.end()) return;
  throw Error(Fault::kFailed, "delivery: rank " + std::to_string(to) + " expects a message of rank " +
                                  std::to_string(from) + ", which does not send to it");
}

}  // namespace cpt
