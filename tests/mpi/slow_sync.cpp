// A library that stands before the C library in every rank of a job (LD_PRELOAD): a disk on which the folder that
// CPT_SLOW_SYNC names, and the one it is in, take seconds to be synced. Leaves a frame for each time in NAME.slow.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace {

namespace fs = std::filesystem;

bool is_slow(int file, const fs::path& slow) {
  std::error_code closed;
  const fs::path synced = fs::read_symlink("/proc/self/fd/" + std::to_string(file), closed);
  return synced == slow || synced == slow.parent_path();
}

}  // namespace

extern "C" int fsync(int file) {
  const char* slow = std::getenv("CPT_SLOW_SYNC");
  if (slow != nullptr && is_slow(file, slow)) {
    std::ofstream(std::string(slow) + ".slow", std::ios::app) << 's';
    ::sleep(5);
  }
  return static_cast<int>(::syscall(SYS_fsync, file));
}
