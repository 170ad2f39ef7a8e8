// Bytes read from a source but not used yet: what a decompressor works on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/source/byte_source.h"

namespace cpt {

class InputBuffer {
 public:
  explicit InputBuffer(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  std::span<const char> bytes() const { return {buffer_.data() + first_, last_ - first_}; }
  // Appends to bytes(), which must be shorter than the buffer; false at the end of the source.
  bool fill();
  // The first `count` of bytes() are used up.
  void drop(std::size_t count) { first_ += count, dropped_ += count; }
  // Offset in the source of the first of bytes().
  std::uint64_t offset() const { return dropped_; }
  // For those who want the bytes as they are: first what is buffered, then straight from the source.
  std::size_t read(std::span<char> space);
  std::uint64_t skip(std::uint64_t most);

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace cpt
