#include "core/zeroed_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "cpt/error.h"

namespace cpt {

namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}  // namespace

void Unmap::operator()(void* memory) const { munmap(memory, bytes); }

void* map_zeroed(std::size_t bytes, const std::string& what) {
  const std::size_t mapped = bytes + kHugePage;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    throw Error(Fault::kFailed, "no memory for " + what + " of " + std::to_string(bytes >> 20) + " MiB (" +
                                    std::strerror(errno) + "); allow more memory, or begin a model with fewer --bits");
  }
  // Unmap what lies before the first huge page boundary and after the array.
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > address) munmap(raw, aligned - address);
  const std::size_t tail = address + mapped - (aligned + bytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);  // a hint; small pages work too
  return reinterpret_cast<void*>(aligned);
}

}  // namespace cpt
