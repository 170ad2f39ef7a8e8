// What a command says of the bad lines that it skips.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cpt {

// Tells each of the first ones on standard error, and that there are more. For one thread.
class SkippedLines {
 public:
  // `most`: so many may be skipped.
  explicit SkippedLines(std::optional<std::uint64_t> most) : most_(most) {}

  // After each step of a stream: how many lines it has skipped, and what it says of those that are new. Throws
  // Error(kBadData) once there are more than may be.
  void report(std::uint64_t skipped, const std::vector<std::string>& warnings);

 private:
  std::optional<std::uint64_t> most_;
  std::uint64_t reported_ = 0;
};

}  // namespace cpt
