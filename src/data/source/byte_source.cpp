#include "data/source/byte_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cpt/error.h"
#include "data/source/compression.h"
#include "data/source/file_source.h"

namespace cpt {

std::uint64_t ByteSource::skip(std::uint64_t most) {
  std::array<char, std::size_t{1} << 15> dropped{};
  return read(std::span(dropped).first(static_cast<std::size_t>(std::min<std::uint64_t>(most, dropped.size()))));
}

namespace {

// Looks at the first bytes only when the first read is due: looking at a pipe may mean waiting for it.
class DetectingSource : public ByteSource {
 public:
  explicit DetectingSource(std::unique_ptr<ByteSource> file) : file_(std::make_unique<PeekedSource>(std::move(file))) {}

  std::size_t read(std::span<char> space) override { return content().read(space); }
  std::uint64_t skip(std::uint64_t most) override { return content().skip(most); }

 private:
  ByteSource& content() {
    if (!content_) {
      const Compression compression = compression_of(file_->peek(kCompressionMagicBytes, may_be_compressed));
      content_ = decompress(compression, std::move(file_));
    }
    return *content_;
  }

  std::unique_ptr<PeekedSource> file_;   // until there is a content_
  std::unique_ptr<ByteSource> content_;  // decompressed
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path, SharedControl control, ByteRange counted,
                                       std::optional<std::uint64_t> size) {
  return std::make_unique<DetectingSource>(std::make_unique<FileSource>(path, std::move(control), counted, size));
}

std::size_t read_fully(ByteSource& source, std::span<char> space) {
  std::size_t filled = 0;
  while (filled < space.size()) {
    const std::size_t count = source.read(space.subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string_view PeekedSource::peek(std::size_t count, const std::function<bool(std::string_view)>& wants_more) {
  count = std::min(count, begin_.size());
  try {
    while (last_ < count && (last_ == 0 || wants_more({begin_.data(), last_}))) {
      const std::size_t got = source_->read(std::span(begin_).subspan(last_, count - last_));
      if (got == 0) break;
      last_ += got;
    }
  } catch (const Error& error) {
    // Faults of the source itself, see ByteSource::read(). Callbacks throw others.
    if (error.fault() != Fault::kNoInput && error.fault() != Fault::kBadData) throw;
    failure_.keep(std::current_exception());
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
  failure_.rethrow();
  return source_->read(space);
}

std::uint64_t PeekedSource::skip(std::uint64_t most) {
  const std::uint64_t count = std::min<std::uint64_t>(most, last_ - first_);
  if (count > 0) {
    first_ += static_cast<std::size_t>(count);
    return count;
  }
  failure_.rethrow();
  return source_->skip(most);
}

}  // namespace cpt
