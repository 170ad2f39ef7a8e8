#include "data/source/input_buffer.h"

#include <algorithm>
#include <cstring>

namespace cpt {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 15;

}  // namespace

bool InputBuffer::fill() {
  if (buffer_.empty()) buffer_.resize(kBufferBytes);
  std::memmove(buffer_.data(), buffer_.data() + first_, last_ - first_);
  last_ -= first_;
  first_ = 0;
  const std::size_t count = source_->read(std::span(buffer_).subspan(last_));
  last_ += count;
  return count > 0;
}

std::size_t InputBuffer::read(std::span<char> space) {
  const std::size_t buffered = std::min(space.size(), last_ - first_);
  if (buffered == 0) {
    buffer_ = {};
    first_ = last_ = 0;
    return source_->read(space);
  }
  std::memcpy(space.data(), buffer_.data() + first_, buffered);
  drop(buffered);
  return buffered;
}

std::uint64_t InputBuffer::skip(std::uint64_t most) {
  const auto buffered = static_cast<std::size_t>(std::min<std::uint64_t>(most, last_ - first_));
  if (buffered == 0) return source_->skip(most);
  drop(buffered);
  return buffered;
}

}  // namespace cpt
