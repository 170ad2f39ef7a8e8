// An error that is kept until it can be reported.
#pragma once

#include <exception>

namespace cpt {

// For work between calls that must happen whether or not the work succeeds, such as collectives with other ranks. Keeps
// the first error. Not thread-safe.
class DeferredError {
 public:
  // Runs work() and keeps what it throws. After an error it does nothing.
  template <class Work>
  void run(Work work) {
    if (error_ != nullptr) return;
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // Keeps `error`, which may be nullptr, unless an earlier error is kept.
  void keep(const std::exception_ptr& error) {
    if (error_ == nullptr) error_ = error;
  }

  explicit operator bool() const { return error_ != nullptr; }
  // nullptr if there is none.
  const std::exception_ptr& get() const { return error_; }
  void rethrow() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace cpt
