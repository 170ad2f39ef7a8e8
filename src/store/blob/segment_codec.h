// Segments: the pieces of at most 4 MiB that a blob is cut into, each compressed and checked on its own, so that a blob
// of any size is read with little memory and no byte is handed out unverified. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cpt {

inline constexpr std::uint32_t kMaxSegmentBytes = std::uint32_t{4} << 20;

// What the manifest knows of a segment. 1 <= stored_bytes <= raw_bytes <= kMaxSegmentBytes.
struct Segment {
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint64_t checksum = 0;  // XXH3 (64 bits) of the stored bytes, seeded with both lengths

  // Whether its raw bytes are stored; they are a zstd frame otherwise.
  bool is_uncompressed() const { return stored_bytes == raw_bytes; }

  friend bool operator==(const Segment&, const Segment&) = default;
};

// Whether these are the bytes that were stored for the segment; nothing is decompressed.
// stored.size() == segment.stored_bytes.
bool is_intact(const Segment& segment, std::span<const std::byte> stored);

struct ZstdDeleter {
  void operator()(ZSTD_CCtx_s* context) const;
  void operator()(ZSTD_DCtx_s* context) const;
};

class SegmentEncoder {
 public:
  SegmentEncoder();

  struct Encoded {
    Segment segment;
    std::span<const std::byte> stored;  // points into `raw` or into the encoder; valid until its next encode()
  };
  // 1 <= raw.size() <= kMaxSegmentBytes.
  Encoded encode(std::span<const std::byte> raw);

 private:
  std::unique_ptr<ZSTD_CCtx_s, ZstdDeleter> context_;
  std::vector<std::byte> compressed_;
};

class SegmentDecoder {
 public:
  SegmentDecoder();

  // Verifies `stored` against the segment, then writes its raw bytes to `out`. Returns false, with `out` in any state,
  // if the bytes are not those that were encoded. stored.size() == segment.stored_bytes, out.size() ==
  // segment.raw_bytes.
  bool decode(const Segment& segment, std::span<const std::byte> stored, std::span<std::byte> out);

 private:
  std::unique_ptr<ZSTD_DCtx_s, ZstdDeleter> context_;
};

}  // namespace cpt
