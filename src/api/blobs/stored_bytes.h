// A source of bytes that are read from front to back: a blob, or memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

namespace cpt {

// Fills its argument with the next bytes; throws Error(kBadData) if there are too few.
using StoredBytes = std::function<void(std::span<std::byte>)>;

// Takes the bytes from the front of `left`. Calls `refuse`, which must throw, if there are too few.
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
