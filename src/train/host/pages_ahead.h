// A thread that has the system provide the pages of a table before they are written.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace cpt {

// The system clears each page at its first use. Rows lie anywhere in a table, so all of its pages are used soon after
// the start, and clearing them takes as long as learning 10^5 examples where a virtual machine must get them from its
// host.
class PagesAhead {
 public:
  // `memory`: parts of mapped memory (zeroed_memory.h) that outlive this object. If the system has no thread to spare,
  // nothing is provided ahead.
  explicit PagesAhead(std::vector<std::span<std::byte>> memory);
  // Ends the thread, within the time of a huge page, wherever it is.
  ~PagesAhead();
  PagesAhead(const PagesAhead&) = delete;
  PagesAhead& operator=(const PagesAhead&) = delete;

 private:
  void run() const;

  std::vector<std::span<std::byte>> memory_;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace cpt
