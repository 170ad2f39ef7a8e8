// Compressed content: recognition by its first bytes, and decompression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "data/source/byte_source.h"

namespace cpt {

// The compressions that are read.
enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

// By the first bytes of a content, of which kCompressionMagicBytes are enough; kNone where there are too few.
inline constexpr std::size_t kCompressionMagicBytes = 4;
Compression compression_of(std::string_view beginning);
// True if more bytes may show that the content is compressed.
bool may_be_compressed(std::string_view beginning);

// The name of a compression that is recognised but not read (bzip2, xz, zip or lz4); empty if it is none. Eight bytes
// are enough.
std::string_view foreign_compression(std::string_view beginning);
// True if the content is compressed so or, with more bytes, may turn out to be.
bool may_be_foreign_compression(std::string_view beginning);

// The decompressed content of the source: of all gzip members, or of all zstd frames, with windows of up to 2 GiB (zstd
// --long=31). For kNone, the source itself.
std::unique_ptr<ByteSource> decompress(Compression compression, std::unique_ptr<ByteSource> source);

}  // namespace cpt
