// A value as the bytes that files and messages hold.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace cpt {

// The bytes of a value or of an array. Not of a pointer, which means nothing to other processes.
template <class T>
requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>) std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

}  // namespace cpt
