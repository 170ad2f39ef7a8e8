// The processor time that a rank's thread has worked, without waiting for others and without the time of other
// processes.
#pragma once

#include <cstdint>
#include <ctime>
#include <utility>

namespace cpt {

// One thread makes all calls.
class BusyTime {
 public:
  // Adds the time of work(), whether it returns or throws.
  template <class Work>
  void add(Work work) {
    const Span span(nanoseconds_);
    work();
  }
  // Nanoseconds since the last call.
  std::uint64_t take() { return std::exchange(nanoseconds_, 0); }

 private:
  static std::uint64_t now() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  }

  class Span {
   public:
    explicit Span(std::uint64_t& sum) : sum_(sum), begin_(now()) {}
    ~Span() { sum_ += now() - begin_; }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    std::uint64_t& sum_;
    const std::uint64_t begin_;
  };

  std::uint64_t nanoseconds_ = 0;
};

}  // namespace cpt
