#include "store/blob/segment_codec.h"

#include <xxhash.h>
#include <zstd.h>

#include <cstring>
#include <new>

namespace cpt {
namespace {

// The fastest of zstd's regular levels. Higher ones gain little on weights, whose low bits are noise.
constexpr int kCompressionLevel = 1;

std::uint64_t checksum_of(const Segment& segment, std::span<const std::byte> stored) {
  const std::uint64_t lengths = std::uint64_t{segment.raw_bytes} << 32 | segment.stored_bytes;
  return XXH3_64bits_withSeed(stored.data(), stored.size(), lengths);
}

}  // namespace

bool is_intact(const Segment& segment, std::span<const std::byte> stored) {
  return checksum_of(segment, stored) == segment.checksum;
}

void ZstdDeleter::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void ZstdDeleter::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

SegmentEncoder::SegmentEncoder() : context_(ZSTD_createCCtx()), compressed_(ZSTD_compressBound(kMaxSegmentBytes)) {
  if (!context_) throw std::bad_alloc();
}

SegmentEncoder::Encoded SegmentEncoder::encode(std::span<const std::byte> raw) {
  const std::size_t compressed = ZSTD_compressCCtx(context_.get(), compressed_.data(), compressed_.size(), raw.data(),
                                                   raw.size(), kCompressionLevel);
  const bool smaller = !ZSTD_isError(compressed) && compressed < raw.size();
  Encoded encoded;
  encoded.stored = smaller ? std::span<const std::byte>(compressed_.data(), compressed) : raw;
  encoded.segment.raw_bytes = static_cast<std::uint32_t>(raw.size());
  encoded.segment.stored_bytes = static_cast<std::uint32_t>(encoded.stored.size());
  encoded.segment.checksum = checksum_of(encoded.segment, encoded.stored);
  return encoded;
}

SegmentDecoder::SegmentDecoder() : context_(ZSTD_createDCtx()) {
  if (!context_) throw std::bad_alloc();
}

bool SegmentDecoder::decode(const Segment& segment, std::span<const std::byte> stored, std::span<std::byte> out) {
  if (!is_intact(segment, stored)) return false;
  if (segment.is_uncompressed()) {
    // The caller may have read it straight to its place.
    if (stored.data() != out.data()) std::memcpy(out.data(), stored.data(), out.size());
    return true;
  }
  return ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), stored.data(), stored.size()) == out.size();
}

}  // namespace cpt
