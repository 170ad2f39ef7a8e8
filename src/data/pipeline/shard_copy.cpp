#include "data/pipeline/shard_copy.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/version.h"
#include "cpt/error.h"
#include "data/binary/binary_index.h"
#include "data/pipeline/read_ahead.h"
#include "data/source/peeked_source.h"

namespace cpt {

namespace {

// Of what is in a copy besides its blocks.
constexpr int kCopyFormat = 3;

// File systems keep times to the tick of their clock, which is two seconds at worst.
constexpr std::chrono::seconds kSettled{2};

// A rank may have many copies open and holds a block and a list of each.
constexpr BlockLimits kLimits{.examples = 1 << 12, .features = 1 << 16, .listed = 1 << 16};

std::chrono::nanoseconds time_of(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The draw of a label depends on the number of the shard. A file may have grown since it was cut into parts.
std::string reader_signature(const Shard& shard, std::uint32_t number, const ReadOptions& options) {
  std::string text = reader_signature(options) + ", format " + std::to_string(static_cast<int>(options.format));
  if (const FilePart& part = shard.part; part.count > 1) {
    text += ", part " + std::to_string(part.index) + " of " + std::to_string(part.count) + " of " +
            std::to_string(shard.bytes) + " bytes";
  }
  if (options.multilabel == MultiLabel::kSample) text += ", shard " + std::to_string(number);
  return text;
}

// Behind its header.
std::unique_ptr<BinaryReader> open_copy(const std::string& path, const std::string& key, const ReadOptions& options,
                                        SharedControl control) {
  auto blocks = std::make_unique<BinaryReader>(open_bytes(path, std::move(control)), options);
  blocks->read_header(key);
  return blocks;
}

}  // namespace

std::optional<CopySource> copy_source(const Shard& shard, std::uint32_t number, const ReadOptions& options) {
  struct stat status {};
  std::error_code failure;
  const std::filesystem::path path = std::filesystem::canonical(shard.path, failure);
  if (failure || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(status.st_size) != shard.bytes) return std::nullopt;
  const std::chrono::nanoseconds changed = time_of(status.st_mtim);
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  CopySource source;
  source.key = "copy " + std::to_string(kCopyFormat) + " by " + kVersion + " of " + path.string() + ", " +
               std::to_string(status.st_size) + " bytes, changed at " + std::to_string(changed.count()) + "; " +
               reader_signature(shard, number, options);
  source.settled = time_of(now) - changed >= kSettled;
  return source;
}

bool is_text_file(const Shard& shard) {
  if (!shard.regular || shard.bytes == 0) return false;
  try {
    PeekedSource source(open_bytes(shard.path, nullptr));
    return !is_binary_shard(source.peek(kBinaryMagicBytes, may_be_binary_shard));
  } catch (const Error&) {
    return false;
  }
}

std::optional<WrittenCopy> write_copy(const std::vector<Shard>& shards, std::uint32_t number,
                                      const ReadOptions& options, const std::string& key,
                                      const BinaryWriter::Sink& sink, const std::function<bool()>& gives_up) {
  ReadOptions reading = options;
  reading.skip_bad_lines = true;  // to hear of them in an orderly way
  reading.tells_bad_lines = false;
  ReadAhead text(ExampleStream(shards, {number}, reading));
  BinaryWriter writer = BinaryWriter::of_copy(key, sink, kLimits, range_of(shards.at(number)).begin);
  WrittenCopy written;
  TextEnd end;
  while (const Batch* batch = text.next()) {
    if (gives_up()) return std::nullopt;
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const ExampleView x = (*batch)[i];
      written.whole = written.whole && x.origin.bad_lines == 0;
      if (!written.whole) break;
      const bool begins_line = x.origin.line != end.last.line;
      writer.add(x, begins_line);
      written.lines += begins_line ? 1 : 0;
      end.last = {x.origin.line, x.origin.end};
    }
    if (!written.whole) break;
  }
  written.whole = written.whole && text.error_lines() == 0;
  if (written.whole) {
    const Cursor last = text.final_cursors().front();
    end.end = {last.line, last.bytes};
    end.whole = 1;
  }
  writer.finish(end);
  return written;
}

void check_copy(const std::string& path, const std::string& key, const ReadOptions& options) {
  read_index(path, key, options);
}

CopyReader::CopyReader(const std::string& path, const std::string& key, const ReadOptions& options,
                       SharedControl control)
    : path_(path), key_(key), options_(options), blocks_(open_copy(path, key, options, std::move(control))) {}

bool CopyReader::go_on(const Cursor& cursor) {
  const std::vector<IndexEntry> index = read_index(path_, key_, options_);
  const auto behind = std::ranges::upper_bound(index, cursor.position, {}, &IndexEntry::lines_before);
  if (behind == index.begin()) return false;
  const IndexEntry& block = *std::prev(behind);
  const bool is_end = behind == index.end();
  if (is_end && cursor.position > block.lines_before) return false;
  if (!blocks_->skip(block.offset, cursor.position, block.list)) return false;
  blocks_->enter();
  const TextPlace wanted{cursor.line, cursor.bytes};
  const std::optional<TextEnd>& end = blocks_->text_end();
  if (!end) return wanted == blocks_->place();
  return wanted == end->last || (end->whole != 0 && wanted == end->end);
}

std::optional<TextPlace> CopyReader::end() const {
  const std::optional<TextEnd>& end = blocks_->text_end();
  return end && end->whole != 0 ? std::optional(end->end) : std::nullopt;
}

}  // namespace cpt
