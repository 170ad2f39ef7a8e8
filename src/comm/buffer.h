// A growing array of bytes that keeps its memory from use to use and never zeroes it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace cpt {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// The value at the start of `bytes`, which must be at least as long.
template <class T>
T read_front(ConstBytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Its memory starts at a multiple of kAlignment, grows by at least half, so that many small steps cost little, and is
// released only by the destructor. Moving and swapping pass the memory on, so addresses stay valid.
class Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept;  // other is empty afterwards

  // nullptr if there is no memory. Valid until the memory grows.
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }  // bytes that fit into the current memory
  Bytes bytes() { return {data(), size_}; }
  ConstBytes bytes() const { return {data(), size_}; }

  // Sets the size. All bytes are undefined afterwards, including those that were there before.
  void resize(std::size_t size);
  void clear() { size_ = 0; }
  // Add bytes at the end. append() copies them from `source`, which must not lie in this buffer; extend() returns them
  // undefined, for the caller to overwrite.
  void append(const void* source, std::size_t count) {
    if (count > 0) std::memcpy(extend(count).data(), source, count);
  }
  Bytes extend(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    size_ += count;
    return bytes().last(count);
  }

  void swap(Buffer& other) noexcept;
  friend void swap(Buffer& a, Buffer& b) noexcept { a.swap(b); }

 private:
  struct Release {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], Release>;

  // Allocates memory for at least `needed` bytes and keeps the current ones.
  void grow(std::size_t needed);
  // The size of that memory.
  std::size_t grown(std::size_t needed) const;
  static Memory allocate(std::size_t capacity);

  Memory memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace cpt
