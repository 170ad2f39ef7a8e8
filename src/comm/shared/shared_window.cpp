#include "comm/shared/shared_window.h"

#include <atomic>
#include <cstdint>

namespace cpt {

namespace {

// Each area begins with its own cache line, which counts the publish() calls of its rank (u64).
constexpr std::size_t kHeadBytes = 64;

std::atomic_ref<std::uint64_t> times_published(Bytes area) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(area.data()));
}

}  // namespace

// Ranks share memory if MPI can share it and their host names are equal: to the user, one name is one machine.
SharedWindow::SharedWindow(Communicator& comm, std::size_t bytes) : areas_(comm.share_memory(kHeadBytes + bytes)) {
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (comm.host_of(rank) != comm.host()) areas_[static_cast<std::size_t>(rank)] = {};
  }
  head_ = areas_[static_cast<std::size_t>(comm.rank())];
  if (head_.empty()) return;
  own_ = head_.subspan(kHeadBytes);
  // Atomic, because others may already call of(). What they see then has no meaning before this rank publishes.
  times_published(head_).store(0, std::memory_order_relaxed);
}

void SharedWindow::publish() const {
  if (!head_.empty()) times_published(head_).fetch_add(1, std::memory_order_release);
}

ConstBytes SharedWindow::of(int rank) const {
  const Bytes area = areas_[static_cast<std::size_t>(rank)];
  if (area.empty()) return {};
  static_cast<void>(times_published(area).load(std::memory_order_acquire));
  return area.subspan(kHeadBytes);
}

}  // namespace cpt
