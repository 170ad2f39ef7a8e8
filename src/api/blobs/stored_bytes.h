// What is read front to back of a blob, or of bytes in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

namespace cpt {

// Fills all of its argument with the bytes that come next; throws Error(kBadData) if there are not as many.
using StoredBytes = std::function<void(std::span<std::byte>)>;

// Those at the front of `left`, which becomes what follows them. `refuse` throws; it is called where there are too few.
inline StoredBytes front_of(std::span<const std::byte>& left, std::function<void()> refuse) {
  return [&left, refuse = std::move(refuse)](std::span<std::byte> out) {
    if (out.size() > left.size()) refuse();
    std::copy_n(left.begin(), out.size(), out.begin());
    left = left.subspan(out.size());
  };
}

template <class T>
T read_value(const StoredBytes& bytes) {
  T value;
  bytes(std::as_writable_bytes(std::span<T, 1>(&value, 1)));
  return value;
}

}  // namespace cpt
