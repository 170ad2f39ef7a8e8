#include "data/pipeline/line_counter.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "cpt/error.h"
#include "data/source/file_source.h"

namespace cpt {
namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;

}  // namespace

std::optional<std::uint64_t> LineCounter::of(const Shard& part) {
  const std::uint64_t begin = range_of(part).begin;
  if (begin == 0) return 0;
  std::uint64_t left = begin - 1;  // the byte before the part may itself end a line
  if (left > bytes_left_) return std::nullopt;
  bytes_left_ -= left;
  try {
    FileSource file(part.path, nullptr);
    std::vector<char> piece(kBytesAtOnce);
    std::uint64_t lines = 0;
    while (left > 0) {
      if (control_ && control_->stop.load(std::memory_order_relaxed)) return std::nullopt;
      const std::size_t size = file.read(std::span(piece).first(std::min<std::uint64_t>(left, kBytesAtOnce)));
      if (size == 0) return std::nullopt;
      lines += static_cast<std::uint64_t>(
          std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
      left -= size;
    }
    return lines;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace cpt
