// One instruction set after the other, for what chooses one at run time.
#pragma once

#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace cpt {

// Makes the kernels use one instruction set, until it goes out of scope.
class OnlyTarget {
 public:
  explicit OnlyTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    refresh();
  }
  ~OnlyTarget() {
    hwy::SetSupportedTargetsForTest(0);
    refresh();
  }
  OnlyTarget(const OnlyTarget&) = delete;
  OnlyTarget& operator=(const OnlyTarget&) = delete;

 private:
  static void refresh() { hwy::GetChosenTarget().DeInit(); }
};

// Those that this machine has.
inline std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> each;
  for (std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS; rest != 0; rest &= rest - 1)
    each.push_back(rest & -rest);
  return each;
}

}  // namespace cpt
