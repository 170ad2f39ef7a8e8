#include "data/source/byte_source.h"

#include <algorithm>
#include <array>

#include "data/source/file_source.h"
#include "data/source/gzip_source.h"
#include "data/source/input_buffer.h"
#include "data/source/zstd_source.h"

namespace cpt {

std::uint64_t ByteSource::skip(std::uint64_t most) {
  std::array<char, std::size_t{1} << 15> dropped{};
  return read(std::span(dropped).first(static_cast<std::size_t>(std::min<std::uint64_t>(most, dropped.size()))));
}

namespace {

// Opens the file at the first read, when its first bytes tell what it is: to look at a pipe may mean to wait for it.
class DetectingSource : public ByteSource {
 public:
  explicit DetectingSource(std::unique_ptr<ByteSource> file) : input_(std::move(file)) {}

  std::size_t read(std::span<char> space) override {
    if (!detected_) detect();
    return content_ ? content_->read(space) : input_.read(space);
  }

  std::uint64_t skip(std::uint64_t most) override {
    if (!detected_) detect();
    return content_ ? content_->skip(most) : input_.skip(most);
  }

 private:
  void detect() {
    detected_ = true;
    // No longer than there is a doubt: who writes to a pipe may wait for an answer to a few bytes.
    const auto is_in_doubt = [&] { return may_be_gzip(input_.bytes()) || may_be_zstd(input_.bytes()); };
    while (input_.bytes().size() < kMagicBytes && is_in_doubt() && input_.fill()) {
    }
    if (is_gzip(input_.bytes())) {
      content_ = std::make_unique<GzipSource>(std::move(input_));
    } else if (is_zstd(input_.bytes())) {
      content_ = std::make_unique<ZstdSource>(std::move(input_));
    }
  }

  static constexpr std::size_t kMagicBytes = 4;
  bool detected_ = false;
  InputBuffer input_;                    // moved from where there is a content_
  std::unique_ptr<ByteSource> content_;  // none: the bytes as they are
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

}  // namespace cpt
