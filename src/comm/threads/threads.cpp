#include "comm/threads/threads.h"

#include <algorithm>
#include <thread>

namespace cpt {
namespace {

std::string describe_current_exception() {
  try {
    throw;
  } catch (const std::exception& error) {
    return describe(error);
  } catch (...) {
    return "unknown error";
  }
}

// What the body threw, or nullptr; the others have been told.
std::exception_ptr run_rank(ThreadGroup& group, int rank, const std::function<void(Communicator&)>& body) {
  try {
    body(group.at(rank));
    group.leave(rank);
    return nullptr;
  } catch (...) {
    group.fail(rank, describe_current_exception());
    return std::current_exception();
  }
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
    if (error != nullptr && !group.was_told(rank)) std::rethrow_exception(error);
    if (error != nullptr && consequence == nullptr) consequence = error;
  }
  // Nobody failed at first hand: a rank ended while others still waited for it.
  if (consequence != nullptr) std::rethrow_exception(consequence);
}

}  // namespace cpt
