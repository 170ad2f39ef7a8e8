// Bytes whose number is not known beforehand: memory that is kept from use to use and never zeroed.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace cpt {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// The value that bytes begin with, of which there must be enough.
template <class T>
T read_front(ConstBytes bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// A run of bytes that starts at a multiple of kAlignment. Memory grows by half at least, so that many small steps cost
// little, and is given back only at the end of its life. Moving and swapping pass it on: addresses stay good.
class Buffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept;  // other is empty afterwards

  // nullptr as long as there is no memory. Good until the memory grows.
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return capacity_; }  // bytes that fit into the memory that is there
  Bytes bytes() { return {data(), size_}; }
  ConstBytes bytes() const { return {data(), size_}; }

  // So many bytes to be overwritten: what they are is undefined, whether or not there were some before.
  void resize(std::size_t size);
  void clear() { size_ = 0; }
  // Adds bytes at the end and keeps those before. append() copies them from `source`, which is not in this buffer; the
  // bytes of extend() are undefined and to be overwritten.
  void append(const void* source, std::size_t count) {
    if (count > 0) std::memcpy(extend(count).data(), source, count);
  }
  Bytes extend(std::size_t count) {
    if (count > capacity_ - size_) grow(size_ + count);
    size_ += count;
    return bytes().last(count);
  }
  // Takes bytes off the end, at most size().
  void shrink(std::size_t count) { size_ -= count; }

  void swap(Buffer& other) noexcept;
  friend void swap(Buffer& a, Buffer& b) noexcept { a.swap(b); }

 private:
  struct Release {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte[], Release>;

  // Memory for at least `needed` bytes, with those that are there.
  void grow(std::size_t needed);
  // Its size.
  std::size_t grown(std::size_t needed) const;
  static Memory allocate(std::size_t capacity);

  Memory memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace cpt
