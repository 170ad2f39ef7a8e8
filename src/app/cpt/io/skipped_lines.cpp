#include "app/cpt/io/skipped_lines.h"

#include <cstdio>

#include "api/options/option_values.h"
#include "data/pipeline/example_stream.h"

namespace cpt {

void SkippedLines::report(std::uint64_t skipped, const std::vector<std::string>& warnings) {
  if (skipped == reported_) return;
  for (const std::string& warning : warnings) std::fprintf(stderr, "cpt: %s\n", warning.c_str());
  constexpr std::uint64_t kSilentFrom = ExampleStream::kWarnings + 1;
  if (reported_ < kSilentFrom && skipped >= kSilentFrom) {
    std::fputs("cpt: skipped: further bad lines are not listed\n", stderr);
  }
  reported_ = skipped;
  if (const auto excess = excess_of_bad_lines(reported_, most_)) throw *excess;
}

}  // namespace cpt
