// Walks one after another, with the memory asked for ahead of time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/weights/node_regressors.h"

namespace cpt {

// While one path_state is trained, the rows of the next few are on their way from memory: training is bound by memory,
// and this is what makes it several times faster. They are asked for a quarter at a time, because a core has few
// requests under way at once and waits where there come more. kAhead: how many path_states ahead; the rows of those
// that are ahead are to find room in the first cache, beside what is at hand. A Slot has a PathState named
// `path_state`. Slots keep their memory between calls. Not thread-safe.
template <class Slot, std::size_t kAhead>
class PathPrefetcher {
 public:
  // Calls visit(i, slot) for i in [begin, end), in order. The slot was made ready by prepare(i, slot), up to kAhead
  // visits ago; a path_state to be asked for has its rows then, any other one has none left to ask for.
  template <class Prepare, class Visit>
  void each(std::size_t begin, std::size_t end, Prepare prepare, Visit visit) {
    std::size_t prepared = begin;
    for (std::size_t i = begin; i < end; ++i) {
      for (; prepared < std::min(end, i + kAhead + 1); ++prepared) prepare(prepared, slot(prepared));
      ahead_ = i + kAhead < end ? &slot(i + kAhead).path_state : nullptr;
      visit(i, slot(i));
    }
  }

  // From within a visit: prefetches the first `quarters` quarters of the rows of the path that comes kAhead later.
  void ask(std::size_t quarters) {
    if (ahead_ != nullptr) ahead_->ask_for_rows(ahead_->rows.size() * quarters / 4);
  }

 private:
  Slot& slot(std::size_t i) { return slots_[i % slots_.size()]; }

  std::array<Slot, kAhead + 1> slots_;
  PathState* ahead_ = nullptr;  // of slots_; nullptr near the end
};

}  // namespace cpt
