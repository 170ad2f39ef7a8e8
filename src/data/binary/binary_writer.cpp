#include "data/binary/binary_writer.h"

#include <xxhash.h>
#include <zstd.h>

#include <string>
#include <utility>

#include "core/bytes_of.h"
#include "cpt/error.h"

namespace cpt {

namespace {

// Higher levels make these columns hardly smaller; all are read equally fast.
constexpr int kCompressionLevel = 3;

// A zstd frame; empty if that would not be shorter.
std::vector<std::byte> compressed(std::span<const std::byte> payload) {
  std::vector<std::byte> frame(ZSTD_compressBound(payload.size()));
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), payload.data(), payload.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0 || size >= payload.size()) return {};
  frame.resize(size);
  return frame;
}

}  // namespace

BinaryWriter::BinaryWriter(const ReadOptions& options, Sink sink, BlockLimits limits)
    : sink_(std::move(sink)), block_(limits) {
  const std::string header = reader_signature(options);
  if (header.size() > kMostTextBytes) {
    throw Error(Fault::kUsage, "the options that shape examples are " + std::to_string(header.size()) +
                                   " bytes long, and a binary shard holds at most " + std::to_string(kMostTextBytes) +
                                   ": name fewer keys or columns");
  }
  const auto length = static_cast<std::uint32_t>(header.size());
  const std::uint64_t checksum = XXH3_64bits(header.data(), header.size());
  put(std::as_bytes(std::span(kBinaryMagic)));
  put(bytes_of(length));
  put(bytes_of(checksum));
  put(std::as_bytes(std::span(header)));
  list_begin_ = offset_;
}

void BinaryWriter::add(const ExampleView& x, bool begins_line) {
  if (begins_line && block_.is_full()) end_block();
  block_.add(x, begins_line);
}

void BinaryWriter::finish(std::uint64_t text_bytes) {
  if (block_.lines() > 0) end_block();
  const std::uint64_t at = offset_;
  const auto entries = std::as_bytes(std::span(index_));
  std::vector<std::byte> payload(entries.begin(), entries.end());
  const auto text = bytes_of(text_bytes);
  if (text_bytes > 0) payload.insert(payload.end(), text.begin(), text.end());
  put_block({.kind = BlockKind::kIndex, .lines_before = lines_}, payload);
  put(bytes_of(Trailer{.index = at}));
}

void BinaryWriter::end_block() {
  const std::uint64_t begin = offset_;
  const std::uint32_t lines = block_.lines();
  const EncodedBlock block = block_.encode(list_);
  if (!block.listed.empty()) put_list(block);
  index_.push_back({begin, lines_, list_begin_});
  put_block({.lines = lines, .lines_before = lines_}, block.payload);
  lines_ += lines;
}

void BinaryWriter::put_list(const EncodedBlock& block) {
  if (block.first_listed == 0) list_begin_ = offset_;
  const auto first = bytes_of(block.first_listed);
  const auto features = std::as_bytes(std::span(block.listed));
  std::vector<std::byte> payload(first.begin(), first.end());
  payload.insert(payload.end(), features.begin(), features.end());
  put_block({.kind = BlockKind::kFeatures, .lines_before = lines_}, payload);
}

void BinaryWriter::put_block(BlockHead head, std::span<const std::byte> payload) {
  if (payload.size() > kMostPayloadBytes) {
    throw Error(Fault::kBadData, "expected a line with fewer features, found one that fills a block by itself");
  }
  const std::vector<std::byte> frame = compressed(payload);
  const std::span<const std::byte> stored = frame.empty() ? payload : std::span<const std::byte>(frame);
  head.raw_bytes = static_cast<std::uint32_t>(payload.size());
  head.stored_bytes = static_cast<std::uint32_t>(stored.size());
  head.checksum = payload_checksum(stored);
  head.head_checksum = head_checksum(head);
  put(bytes_of(head));
  put(stored);
}

void BinaryWriter::put(std::span<const std::byte> bytes) {
  sink_(bytes);
  offset_ += bytes.size();
}

}  // namespace cpt
