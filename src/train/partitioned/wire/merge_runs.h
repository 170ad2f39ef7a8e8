// Merges runs of elements that several ranks have sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cpt {

// Merges adjacent sorted runs into one; equal elements keep their order. Run i ends at ends[i], where run i + 1 begins;
// the last run ends with `values`. `scratch` keeps its memory from call to call.
template <class T>
void merge_runs(std::vector<T>& values, std::vector<std::size_t> ends, std::vector<T>& scratch) {
  while (ends.size() > 1) {
    scratch.resize(values.size());
    std::vector<std::size_t> merged;
    std::size_t begin = 0;
    for (std::size_t run = 0; run < ends.size(); run += 2) {
      const std::size_t middle = ends[run];
      const std::size_t end = run + 1 < ends.size() ? ends[run + 1] : middle;
      const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
      std::merge(at(begin), at(middle), at(middle), at(end), scratch.begin() + static_cast<std::ptrdiff_t>(begin));
      merged.push_back(end);
      begin = end;
    }
    values.swap(scratch);
    ends = std::move(merged);
  }
}

}  // namespace cpt
