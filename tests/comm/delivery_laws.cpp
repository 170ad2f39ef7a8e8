// The laws of messages whose lengths only their senders know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "comm/collectives.h"
#include "comm/interposed.h"
#include "comm/laws.h"
#include "comm/message.h"

namespace cpt::testing {
namespace {

// The length of the message from `from` to `to`, known to all ranks; nullopt if there is none.
using Plan = std::function<std::optional<std::size_t>(int from, int to)>;

// Around the multiples of the seven bytes that MPI's messages have in one of the tests, and far above.
constexpr std::size_t kLengths[] = {0, 1, 6, 7, 8, 13, 14, 15, 49, 50, 1000};

// Above the size that MPI accepts from a sender on the same machine before the receiver receives it.
constexpr std::size_t kLarge = 5'000;

Plan all_to_all(std::size_t length) {
  return [length](int, int) { return length; };
}

// One rank's part in a delivery after a plan.
class Part {
 public:
  Part(Communicator& comm, Plan plan) : comm_(comm) { follow(std::move(plan)); }

  // Reuses the Buffers of the previous plan.
  void follow(Plan plan) {
    plan_ = std::move(plan);
    contents_.clear();
    outgoing_.clear();
    std::size_t senders = 0;
    for (int other = 0; other < comm_.size(); ++other) {
      if (other == comm_.rank()) continue;
      if (const auto length = plan_(comm_.rank(), other)) {
        contents_.push_back(message(comm_.rank(), other, *length));
        outgoing_.push_back({other, contents_.back()});
      }
      if (!plan_(other, comm_.rank())) continue;
      if (senders == incoming_.size()) incoming_.emplace_back();
      incoming_[senders++].from = other;
    }
    incoming_.resize(senders);
  }

  std::unique_ptr<Operation> start() { return comm_.start_delivery(outgoing_, incoming_); }
  void deliver() { comm_.wait(*start(), "delivery"); }

  void expect_arrived() const {
    for (const Incoming& received : incoming_) {
      const Contents expected = message(received.from, comm_.rank(), plan_(received.from, comm_.rank()).value());
      EXPECT_TRUE(std::ranges::equal(received.bytes.bytes(), expected))
          << received.bytes.size() << " bytes from rank " << received.from << ", expected " << expected.size();
    }
  }

  const std::vector<Incoming>& incoming() const { return incoming_; }

 private:
  Communicator& comm_;
  Plan plan_;
  std::vector<Contents> contents_;  // of outgoing_
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

void expect_delivered(Communicator& comm, const Plan& plan) {
  Part part(comm, plan);
  part.deliver();
  part.expect_arrived();
}

void delivery_brings_messages_of_any_length(Communicator& comm) {
  for (const std::size_t length : kLengths) expect_delivered(comm, all_to_all(length));
  expect_delivered(comm, [](int from, int to) {
    return kLengths[static_cast<std::size_t>(from * 5 + to * 3) % std::size(kLengths)];
  });
}

void delivery_reaches_only_those_it_is_for(Communicator& comm) {
  const int ranks = comm.size();
  const auto where = [](auto goes) {
    return
        [goes](int from, int to) { return goes(from, to) ? std::optional<std::size_t>(from * 10 + to) : std::nullopt; };
  };
  expect_delivered(comm, where([](int from, int) { return from == 0; }));
  expect_delivered(comm, where([](int, int to) { return to == 0; }));
  expect_delivered(comm, where([=](int from, int to) { return to == (from + 1) % ranks; }));
  expect_delivered(comm, where([](int from, int to) { return (from * 3 + to) % 4 == 1; }));
  expect_delivered(comm, where([](int, int) { return false; }));
}

// Half of the ranks begin with the last one, which ends only if the other half listens to it meanwhile.
void expect_any_order(Communicator& comm) {
  constexpr int kUnderWay = 4;
  std::vector<std::unique_ptr<Part>> parts;
  std::vector<std::unique_ptr<Operation>> operations;
  for (std::size_t i = 0; i < kUnderWay; ++i) {
    parts.push_back(std::make_unique<Part>(comm, all_to_all(i % 2 == 0 ? kLarge + i : i)));
    operations.push_back(parts.back()->start());
  }
  if (comm.rank() % 2 == 0) std::ranges::reverse(operations);
  for (const auto& operation : operations) comm.wait(*operation, "one of many deliveries");
  for (const auto& part : parts) part->expect_arrived();
}

void deliveries_may_be_waited_for_in_any_order(Communicator& comm) {
  expect_any_order(comm);
  Interposed wrapper(comm, nullptr);
  expect_any_order(wrapper);
}

// Rank 0 sees to its delivery last, when the others have long waited for it.
void delivery_goes_on_while_others_wait_for_something_else(Communicator& comm) {
  const int last = comm.size() - 1;
  Part part(comm, all_to_all(kLarge));
  Part small(comm, all_to_all(3));
  const auto delivery = part.start();
  int value = comm.rank();
  const auto broadcast = comm.start_broadcast(writable_bytes_of(value), last);
  const auto second = small.start();
  if (comm.rank() != 0) comm.wait(*delivery, "delivery");
  const std::vector<Contents> exchanged =
      exchange(comm, std::vector<ConstBytes>(static_cast<std::size_t>(comm.size()), bytes_of(value)),
               "exchange beside a delivery");
  EXPECT_EQ(exchanged.size(), static_cast<std::size_t>(comm.size()));
  comm.wait(*second, "second delivery");
  comm.wait(*broadcast, "broadcast");
  comm.wait(*delivery, "delivery");
  EXPECT_EQ(value, last);
  part.expect_arrived();
  small.expect_arrived();
}

void deliveries_without_messages_send_nothing(Communicator& comm) {
  const std::uint64_t before = comm.bytes_sent();
  std::vector<Incoming> nobody;
  const auto operation = comm.start_delivery({}, nobody);
  EXPECT_EQ(all_gather_value(comm, comm.rank(), "ranks").size(), static_cast<std::size_t>(comm.size()));
  comm.wait(*operation, "empty delivery");
  EXPECT_EQ(comm.bytes_sent() - before, sizeof(int) * static_cast<std::size_t>(comm.size() - 1));
}

// Longer, shorter and empty in turn: nothing of what was there before is left.
void delivery_reuses_buffers(Communicator& comm) {
  Part part(comm, all_to_all(700));
  part.deliver();
  std::vector<const std::byte*> memory;
  for (const Incoming& received : part.incoming()) memory.push_back(received.bytes.data());
  for (const std::size_t length : {100U, 0U, 700U, 49U}) {
    part.follow(all_to_all(length));
    part.deliver();
    part.expect_arrived();
  }
  for (std::size_t i = 0; i < memory.size(); ++i) EXPECT_EQ(part.incoming()[i].bytes.data(), memory[i]);
  part.follow(all_to_all(3000));
  part.deliver();
  part.expect_arrived();
}

void delivered_bytes_are_counted(Communicator& comm) {
  const auto others = static_cast<std::uint64_t>(comm.size() - 1);
  const std::uint64_t before = comm.bytes_sent();
  expect_delivered(comm, all_to_all(14));
  EXPECT_EQ(comm.bytes_sent() - before, 14 * others);
  expect_delivered(comm, [](int from, int) { return from == 0 ? std::optional<std::size_t>(1000) : std::nullopt; });
  EXPECT_EQ(comm.bytes_sent() - before, 14 * others + (comm.rank() == 0 ? 1000 * others : 0));
}

}  // namespace

const std::vector<Law>& delivery_laws() {
  static const std::vector<Law> all{
      {"DeliveryBringsMessagesOfAnyLength", delivery_brings_messages_of_any_length},
      {"DeliveryReachesOnlyThoseItIsFor", delivery_reaches_only_those_it_is_for},
      {"DeliveriesMayBeWaitedForInAnyOrder", deliveries_may_be_waited_for_in_any_order},
      {"DeliveryGoesOnWhileOthersWaitForSomethingElse", delivery_goes_on_while_others_wait_for_something_else},
      {"DeliveriesWithoutMessagesSendNothing", deliveries_without_messages_send_nothing},
      {"DeliveryReusesBuffers", delivery_reuses_buffers},
      {"DeliveredBytesAreCounted", delivered_bytes_are_counted},
  };
  return all;
}

}  // namespace cpt::testing
