// The exception that this library throws: a reason in one line, the kind of fault, and a chain of causes.
#pragma once

#include <stdexcept>
#include <string>

namespace cpt {

// The kind of a failure. The values are the exit codes of cpt_dist and cpt, taken from sysexits.h where one fits.
enum class Fault : int {
  kFailed = 1,        // everything without a code of its own
  kUsage = 2,         // an option or argument is out of range, or two contradict
  kBadData = 65,      // malformed input, or a damaged model or checkpoint
  kNoInput = 66,      // missing or unreadable input
  kCannotWrite = 73,  // no permission, no space, or a run directory in use
  kStopped = 75,      // stopped on request, with a checkpoint to resume from
};

// The only exception that this library throws on purpose; std::bad_alloc and the like may pass through it. what() is
// one line without a final period. To add context, catch and call std::throw_with_nested(Error(...)): describe() prints
// the whole chain.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& reason) : std::runtime_error(reason), fault_(fault) {}
  Fault fault() const { return fault_; }

 private:
  Fault fault_;
};

// The messages of an exception and of everything nested in it: "outer: inner: innermost".
std::string describe(const std::exception& error);

// The fault of the outermost Error in the chain; kFailed if there is none.
Fault fault_of(const std::exception& error);

// The message for an errno value: "open failed: No such file or directory".
std::string describe_errno(const std::string& action, int error_number);

}  // namespace cpt
