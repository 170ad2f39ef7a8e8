#include "data/source/peeked_source.h"

#include <algorithm>
#include <cstring>

#include "cpt/error.h"

namespace cpt {

std::string_view PeekedSource::peek(std::size_t count, const std::function<bool(std::string_view)>& wants_more) {
  count = std::min(count, begin_.size());
  try {
    while (last_ < count && (last_ == 0 || wants_more({begin_.data(), last_}))) {
      const std::size_t got = source_->read(std::span(begin_).subspan(last_, count - last_));
      if (got == 0) break;
      last_ += got;
    }
  } catch (const Error& error) {
    // What a source throws of itself (byte_source.h). Who was told before it waits throws of something else.
    if (error.fault() != Fault::kNoInput && error.fault() != Fault::kBadData) throw;
    failure_ = std::current_exception();
  }
  return {begin_.data(), last_};
}

std::size_t PeekedSource::read(std::span<char> space) {
  const std::size_t count = std::min(space.size(), last_ - first_);
  if (count > 0) {
    std::memcpy(space.data(), begin_.data() + first_, count);
    first_ += count;
    return count;
  }
  rethrow();
  return source_->read(space);
}

std::uint64_t PeekedSource::skip(std::uint64_t most) {
  const std::uint64_t count = std::min<std::uint64_t>(most, last_ - first_);
  if (count > 0) {
    first_ += static_cast<std::size_t>(count);
    return count;
  }
  rethrow();
  return source_->skip(most);
}

void PeekedSource::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace cpt
