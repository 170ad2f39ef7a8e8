#include "core/zeroed_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "cpt/error.h"

namespace cpt {

namespace {
constexpr std::size_t kSmallPage = std::size_t{4} << 10;
}  // namespace

void Unmap::operator()(void* memory) const { munmap(memory, bytes); }

void* map_zeroed(std::size_t bytes, const std::string& what) {
  const std::size_t mapped = bytes + kHugePage;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    throw Error(Fault::kFailed, "no memory for " + what + " of " + std::to_string(bytes >> 20) + " MiB (" +
                                    std::strerror(errno) + "); allow more memory, or use fewer --bits");
  }
  // Unmap what lies before the first huge page boundary and after the array.
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > address) munmap(raw, aligned - address);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t end = (aligned + bytes + page - 1) / page * page;
  const std::size_t tail = address + mapped - end;
  if (tail > 0) munmap(reinterpret_cast<void*>(end), tail);
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);  // a hint; small pages work too
  return reinterpret_cast<void*>(aligned);
}

// madvise() with MADV_POPULATE_WRITE would make other threads wait that map memory. So bytes are written instead, with
// what they hold, in one step each: as the Java virtual machine touches the pages of its heap beside the program.
__attribute__((no_sanitize("thread"))) void provide_pages(std::span<std::byte> memory) {
  for (std::size_t at = 0; at < memory.size(); at += kSmallPage) {
    __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(memory.data() + at), std::uint8_t{0}, __ATOMIC_RELAXED);
  }
}

}  // namespace cpt
