#include "data/text/line_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "cpt/error.h"
#include "data/source/file_source.h"

namespace cpt {
namespace {

constexpr std::size_t kLongestWithEnd = kMaxLineBytes + 2;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

const char* find_line_feed(std::string_view text) {
  return text.empty() ? nullptr : static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
}

}  // namespace

LineReader::Status LineReader::next(std::string_view& line) {
  if (inside_line_ && !skip_to_line_end()) return Status::kEnd;
  if (offset() >= end_) return Status::kEnd;
  ++number_;
  line_begin_ = offset();
  std::size_t searched = 0;
  while (true) {
    const std::string_view read(buffer_.data() + first_, last_ - first_);
    if (const char* line_feed = find_line_feed(read.substr(searched))) {
      line = read.substr(0, static_cast<std::size_t>(line_feed - read.data()));
      first_ += line.size() + 1;
      return finish(line);
    }
    if (read.size() >= kLongestWithEnd) {
      inside_line_ = true;
      line = read;
      return Status::kTooLong;
    }
    searched = read.size();
    if (!fill()) {
      if (read.empty()) {
        --number_;
        return Status::kEnd;
      }
      line = std::string_view(buffer_.data() + first_, last_ - first_);
      first_ = last_;
      return finish(line);
    }
  }
}

void LineReader::begin_at(std::uint64_t bytes) { inside_line_ = skip(bytes - 1, 1); }

bool LineReader::skip(std::uint64_t bytes, std::uint64_t lines) {
  number_ = lines;
  while (taken_ < bytes) {
    const std::uint64_t count = source_->skip(bytes - taken_);
    if (count == 0) return false;
    taken_ += count;
  }
  return true;
}

// False if the source, or the range to read, ends first.
bool LineReader::skip_to_line_end() {
  while (offset() < end_) {
    const auto most = std::min<std::uint64_t>(last_ - first_, end_ - offset());
    const std::string_view read(buffer_.data() + first_, static_cast<std::size_t>(most));
    if (const char* line_feed = find_line_feed(read)) {
      first_ += static_cast<std::size_t>(line_feed - read.data()) + 1;
      inside_line_ = false;
      return true;
    }
    first_ += read.size();
    if (first_ == last_ && !fill()) return false;
  }
  return false;
}

bool LineReader::fill() {
  make_room();
  const std::size_t count = source_->read(std::span(buffer_).subspan(last_));
  last_ += count;
  taken_ += count;
  return count > 0;
}

// Moves the rest to the front. A buffer that grew for one long line becomes small again.
void LineReader::make_room() {
  const std::size_t left = last_ - first_;
  std::size_t size = std::max(buffer_.size(), buffer_bytes_);
  if (left == size) size = std::min(2 * size, kLongestWithEnd);
  if (left <= buffer_bytes_ / 2) size = buffer_bytes_;
  if (size != buffer_.size()) {
    std::vector<char> resized(size);
    std::copy_n(buffer_.data() + first_, left, resized.data());
    buffer_ = std::move(resized);
  } else {
    std::memmove(buffer_.data(), buffer_.data() + first_, left);
  }
  first_ = 0;
  last_ = left;
}

LineReader::Status LineReader::finish(std::string_view& line) const {
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.size() > kMaxLineBytes ? Status::kTooLong : Status::kLine;
}

ListFile::ListFile(const std::string& path)
    : ListFile(path, std::make_unique<FileSource>(path, std::make_shared<ReadControl>())) {}

ListFile::ListFile(std::string name, std::unique_ptr<ByteSource> source)
    : name_(std::move(name)), lines_(std::move(source)) {}

bool ListFile::next(std::string_view& line) {
  for (;;) {
    const LineReader::Status status = lines_.next(line);
    if (status == LineReader::Status::kEnd) return false;
    if (status == LineReader::Status::kTooLong) refuse("at most 16 MiB in a line", "more");
    if (!line.empty()) return true;
  }
}

void ListFile::refuse(const std::string& expected, const std::string& found) const {
  refuse_at(line(), expected, found);
}

void ListFile::refuse_at(std::uint64_t line, const std::string& expected, const std::string& found) const {
  throw Error(Fault::kBadData, name_ + ":" + std::to_string(line) + ": expected " + expected + ", found " + found);
}

}  // namespace cpt
