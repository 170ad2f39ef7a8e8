#include "comm/buffer.h"

#include <algorithm>
#include <new>
#include <utility>

namespace cpt {

void Buffer::Release::operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer(std::move(other)).swap(*this);
  return *this;
}

void Buffer::resize(std::size_t size) {
  if (size > capacity_) {
    const std::size_t capacity = grown(size);
    // Released first, since its bytes are not needed.
    memory_.reset();
    size_ = capacity_ = 0;
    memory_ = allocate(capacity);
    capacity_ = capacity;
  }
  size_ = size;
}

void Buffer::grow(std::size_t needed) {
  const std::size_t capacity = grown(needed);
  Memory memory = allocate(capacity);
  std::ranges::copy(bytes(), memory.get());
  memory_ = std::move(memory);
  capacity_ = capacity;
}

void Buffer::swap(Buffer& other) noexcept {
  memory_.swap(other.memory_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

std::size_t Buffer::grown(std::size_t needed) const {
  return std::max({kAlignment, needed, capacity_ + capacity_ / 2});
}

Buffer::Memory Buffer::allocate(std::size_t capacity) {
  return Memory(static_cast<std::byte*>(::operator new (capacity, std::align_val_t{kAlignment})));
}

}  // namespace cpt
