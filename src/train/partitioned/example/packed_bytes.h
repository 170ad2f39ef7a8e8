// Numbers in few bytes: LEB128 varints, and values as they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "comm/buffer.h"
#include "cpt/error.h"

namespace cpt {

inline constexpr std::size_t kMostVarintBytes = 10;

// These write at `out` and return the end of what they wrote.
inline std::byte* put_varint(std::byte* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::byte>(value | 0x80);
  *out++ = static_cast<std::byte>(value);
  return out;
}

inline std::byte* put_bytes(std::byte* out, const void* bytes, std::size_t count) {
  if (count > 0) std::memcpy(out, bytes, count);
  return out + count;
}

template <class T>
std::byte* put_value(std::byte* out, const T& value) {
  return put_bytes(out, &value, sizeof value);
}

// Reads them again, and never past the end. Throws Error(kFailed) where there is less than was asked for.
class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }

  const std::byte* take(std::size_t count) {
    if (count > static_cast<std::size_t>(end_ - at_)) refuse();
    const std::byte* taken = at_;
    at_ += count;
    return taken;
  }

  // All that is left but its last so many bytes, which are left then.
  ConstBytes all_but_last(std::size_t count) {
    if (count > static_cast<std::size_t>(end_ - at_)) refuse();
    const std::byte* taken = at_;
    at_ = end_ - count;
    return {taken, at_};
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint64_t>(*take(1));
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  template <class T>
  T value() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

 private:
  [[noreturn]] static void refuse() { throw Error(Fault::kFailed, "a message of another rank makes no sense"); }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace cpt
