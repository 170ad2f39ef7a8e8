// Arrays that read as zero at first, and whose memory the system provides page by page as it is written.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace cpt {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};
template <class T>
using ZeroedArray = std::unique_ptr<T[], Unmap>;

// Begins at a multiple of 2 MiB; on huge pages if the system has them. Throws Error(kFailed), "no memory for <what>
// ...", if there is not enough address space.
void* map_zeroed(std::size_t bytes, const std::string& what);

// Has the system provide the pages of a part of mapped memory now. Changes nothing in it, whatever other threads write
// there meanwhile.
void provide_pages(std::span<std::byte> memory);

template <class T>
ZeroedArray<T> make_zeroed(std::size_t count, const std::string& what) {
  return ZeroedArray<T>(static_cast<T*>(map_zeroed(count * sizeof(T), what)), Unmap{count * sizeof(T)});
}

}  // namespace cpt
