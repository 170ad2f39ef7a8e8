// Ranks that are threads, on cores of their own or together on one.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <vector>

namespace cpt {

// The cores that this thread may run on, ascending.
inline std::vector<std::size_t> allowed_cores() {
  cpu_set_t allowed;
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

// Binds this thread and those that it will start.
inline void bind_to(const std::vector<std::size_t>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const std::size_t core : cores) CPU_SET(core, &mask);
  ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
}

}  // namespace cpt
