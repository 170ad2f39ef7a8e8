// A source whose first bytes are looked at before they are read.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>

#include "data/source/byte_source.h"

namespace cpt {

class PeekedSource : public ByteSource {
 public:
  explicit PeekedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  // The first `count` bytes, or as many as there are, before anything is read; fewer where `wants_more` says of what
  // has come so far (not nothing) that more would tell nothing, for who writes to a pipe may wait for an answer to it.
  // What goes wrong with the source is left to read(), in its place; what ReadControl::on_input_idle throws is thrown,
  // unless it looks like that.
  std::string_view peek(std::size_t count, const std::function<bool(std::string_view)>& wants_more);

  std::size_t read(std::span<char> space) override;
  std::uint64_t skip(std::uint64_t most) override;

 private:
  void rethrow() const;

  std::unique_ptr<ByteSource> source_;
  std::array<char, 16> begin_{};
  std::size_t first_ = 0;  // begin_[first_, last_) is peeked at but not read
  std::size_t last_ = 0;
  std::exception_ptr failure_;
};

}  // namespace cpt
