#include "comm/threads/threads.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "comm/threads/thread_meeting.h"
#include "core/deferred_error.h"

namespace cpt {

// The state that all ranks share. mutex_ guards all members but the immutable ones.
class ThreadGroup::State {
 public:
  explicit State(int ranks) : ranks_(ranks), members_(static_cast<std::size_t>(ranks)) {}

  int ranks() const { return ranks_; }
  const std::string& host() const { return host_; }

  // Joins the meeting of this rank's next call.
  std::shared_ptr<Meeting> join(int rank, ThreadCall call);
  // Throws if the group has failed, because the meeting will then never be complete.
  bool complete(int rank, const Meeting& meeting);
  // The rank no longer waits. Its buffers are gone, so an incomplete meeting will never be complete.
  void abandon(int rank, const Meeting& meeting);
  void leave(int rank);
  void fail(const std::string& reason);
  bool failed_by_others(int rank) const;

  // The n-th call of every rank returns the same areas, one per rank.
  std::vector<Bytes> allocate_shared(int rank, std::size_t bytes);

  std::uint64_t open_roll_call(int rank);
  void answer_roll_call(int rank, WaitsFor waits_for);
  RollCallResult result_of(std::uint64_t roll_call) const;

 private:
  struct Member {
    std::uint64_t calls = 0;  // started so far
    std::uint64_t last_answered = 0;
    WaitsFor waits_for = WaitsFor::kRanks;  // as it last answered
    std::size_t allocations = 0;
    bool left = false;
    bool failed_by_others = false;
  };

  Member& member(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  void fail_locked(const std::string& reason);
  [[noreturn]] void throw_failure_locked(int rank);

  const int ranks_;
  const std::string host_ = host_name();
  mutable std::mutex mutex_;
  std::vector<Member> members_;
  std::map<std::uint64_t, std::shared_ptr<Meeting>> open_;  // incomplete ones, by call number
  std::string failure_;                                     // the first one; empty while all is well
  std::uint64_t roll_calls_ = 0;
  std::vector<std::vector<Buffer>> memory_;  // by allocation, by rank
};

std::shared_ptr<Meeting> ThreadGroup::State::join(int rank, ThreadCall call) {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw_failure_locked(rank);
  const std::uint64_t number = member(rank).calls++;
  for (int other = 0; other < ranks_; ++other) {
    if (!member(other).left || member(other).calls > number) continue;
    fail_locked("rank " + std::to_string(other) + " ended before call " + std::to_string(number) + ", which rank " +
                std::to_string(rank) + " has started");
    throw_failure_locked(rank);
  }
  std::shared_ptr<Meeting>& slot = open_[number];
  if (slot == nullptr) slot = std::make_shared<Meeting>(members_.size());
  std::shared_ptr<Meeting> meeting = slot;
  try {
    meeting->join(rank, std::move(call));
  } catch (const Error& error) {
    fail_locked(error.what());
    throw;
  }
  if (meeting->complete()) open_.erase(number);
  return meeting;
}

bool ThreadGroup::State::complete(int rank, const Meeting& meeting) {
  if (meeting.complete()) return true;
  const std::lock_guard lock(mutex_);
  if (meeting.complete()) return true;
  if (!failure_.empty()) throw_failure_locked(rank);
  return false;
}

void ThreadGroup::State::abandon(int rank, const Meeting& meeting) {
  const std::lock_guard lock(mutex_);
  if (!meeting.complete()) fail_locked("rank " + std::to_string(rank) + " gave up a call that others need");
}

void ThreadGroup::State::leave(int rank) {
  const std::lock_guard lock(mutex_);
  member(rank).left = true;
  for (const auto& [number, meeting] : open_) {
    if (meeting->joined(rank)) continue;
    fail_locked("rank " + std::to_string(rank) + " ended before call " + std::to_string(number) +
                ", which others have started");
  }
}

void ThreadGroup::State::fail(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  fail_locked(reason);
}

bool ThreadGroup::State::failed_by_others(int rank) const {
  const std::lock_guard lock(mutex_);
  return members_[static_cast<std::size_t>(rank)].failed_by_others;
}

void ThreadGroup::State::fail_locked(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
}

void ThreadGroup::State::throw_failure_locked(int rank) {
  member(rank).failed_by_others = true;
  throw Error(Fault::kFailed, failure_);
}

std::vector<Bytes> ThreadGroup::State::allocate_shared(int rank, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t n = member(rank).allocations++;
  if (n == memory_.size()) {
    std::vector<Buffer>& memory = memory_.emplace_back(members_.size());
    for (Buffer& one : memory) one.resize(bytes);
  }
  std::vector<Bytes> areas;
  for (Buffer& one : memory_[n]) areas.push_back(one.bytes());
  return areas;
}

std::uint64_t ThreadGroup::State::open_roll_call(int rank) {
  const std::lock_guard lock(mutex_);
  member(rank).last_answered = ++roll_calls_;
  return roll_calls_;
}

void ThreadGroup::State::answer_roll_call(int rank, WaitsFor waits_for) {
  const std::lock_guard lock(mutex_);
  member(rank).last_answered = roll_calls_;
  member(rank).waits_for = waits_for;
}

RollCallResult ThreadGroup::State::result_of(std::uint64_t roll_call) const {
  const std::lock_guard lock(mutex_);
  RollCallResult result;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Member& member = members_[static_cast<std::size_t>(rank)];
    if (member.last_answered < roll_call) {
      result.silent.push_back(rank);
    } else if (member.waits_for == WaitsFor::kInput) {
      result.input_is_awaited = true;
    }
  }
  return result;
}

namespace {

class ThreadOperation : public Operation {
 public:
  ThreadOperation(ThreadGroup::State& state, int rank, std::shared_ptr<Meeting> meeting)
      : state_(state), rank_(rank), meeting_(std::move(meeting)) {}
  ~ThreadOperation() override { state_.abandon(rank_, *meeting_); }
  ThreadOperation(const ThreadOperation&) = delete;
  ThreadOperation& operator=(const ThreadOperation&) = delete;

  bool done() override { return state_.complete(rank_, *meeting_); }

 private:
  ThreadGroup::State& state_;
  int rank_;
  std::shared_ptr<Meeting> meeting_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(ThreadGroup::State& state, int rank) : state_(state), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return state_.ranks(); }
  std::string host_of(int) const override { return state_.host(); }

  RollCallResult call_roll(std::chrono::milliseconds grace) override {
    const auto end = std::chrono::steady_clock::now() + grace;
    const std::uint64_t roll_call = state_.open_roll_call(rank_);
    RollCallResult result;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      answer_roll_call(WaitsFor::kRanks);
      result = state_.result_of(roll_call);
    } while (!result.silent.empty() && std::chrono::steady_clock::now() < end);
    return result;
  }
  void answer_roll_call(WaitsFor waits_for) override { state_.answer_roll_call(rank_, waits_for); }
  void advance() override {}  // the last rank to join moves all data
  std::vector<Bytes> allocate_shared(std::size_t bytes) override { return state_.allocate_shared(rank_, bytes); }

 protected:
  std::unique_ptr<Operation> begin_all_gather(ConstBytes mine, Bytes all) override {
    return begin(ThreadCall::all_gather(mine, all));
  }
  std::unique_ptr<Operation> begin_broadcast(Bytes data, int root) override {
    return begin(ThreadCall::broadcast(data, root, rank_, size()));
  }
  std::unique_ptr<Operation> begin_exchange(std::vector<ConstBytes> outgoing, std::vector<Bytes> incoming) override {
    return begin(ThreadCall::exchange(std::move(outgoing), std::move(incoming)));
  }
  std::unique_ptr<Operation> begin_delivery(std::vector<Outgoing> outgoing, std::vector<Incoming>& incoming) override {
    return begin(ThreadCall::delivery(std::move(outgoing), incoming));
  }

 private:
  std::unique_ptr<Operation> begin(ThreadCall call) {
    return std::make_unique<ThreadOperation>(state_, rank_, state_.join(rank_, std::move(call)));
  }

  ThreadGroup::State& state_;
  int rank_;
};

}  // namespace

ThreadGroup::ThreadGroup(int ranks) : state_(std::make_unique<State>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) members_.push_back(std::make_unique<ThreadCommunicator>(*state_, rank));
}

ThreadGroup::~ThreadGroup() = default;

Communicator& ThreadGroup::at(int rank) { return *members_.at(static_cast<std::size_t>(rank)); }

void ThreadGroup::leave(int rank) { state_->leave(rank); }

void ThreadGroup::fail(int rank, const std::string& reason) {
  state_->fail("rank " + std::to_string(rank) + " failed: " + reason);
}

bool ThreadGroup::failed_by_others(int rank) const { return state_->failed_by_others(rank); }

namespace {

// Returns the error of the body, or nullptr, after the group knows about it.
std::exception_ptr run_rank(ThreadGroup& group, int rank, const std::function<void(Communicator&)>& body) {
  DeferredError error;
  error.run([&] {
    try {
      body(group.at(rank));
      group.leave(rank);
    } catch (const std::exception& failure) {
      group.fail(rank, describe(failure));
      throw;
    } catch (...) {
      group.fail(rank, "unknown error");
      throw;
    }
  });
  return error.get();
}

}  // namespace

void run_threads(int ranks, const std::function<void(Communicator&)>& body) {
  ThreadGroup group(ranks);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(ranks));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] { errors[static_cast<std::size_t>(rank)] = run_rank(group, rank, body); });
    }
  }
  std::exception_ptr consequence;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::exception_ptr& error = errors[static_cast<std::size_t>(rank)];
    if (error != nullptr && !group.failed_by_others(rank)) std::rethrow_exception(error);
    if (error != nullptr && consequence == nullptr) consequence = error;
  }
  // All errors are consequences: a rank ended while others still waited for it.
  if (consequence != nullptr) std::rethrow_exception(consequence);
}

}  // namespace cpt
