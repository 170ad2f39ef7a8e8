// The manifest of a blob set: its kind, its blobs, and the length and checksum of every segment. format.md describes
// the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/blob/segments.h"

namespace cpt {

// The format that is written, and the newest one that is read. Older ones are read or refused by number (C9).
inline constexpr std::uint32_t kBlobSetFormat = 1;
inline constexpr const char* kManifestName = "MANIFEST";
// Enough for the segments of nearly 16 TiB.
inline constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{64} << 20;

struct Blob {
  std::string name;
  std::vector<Segment> segments;

  std::uint64_t raw_bytes() const;
  std::uint64_t stored_bytes() const;  // the length of its file

  friend bool operator==(const Blob&, const Blob&) = default;
};

struct Manifest {
  std::string kind;         // what the set is, e.g. "cpt model": 1 to 64 printable ASCII characters
  std::vector<Blob> blobs;  // in the order in which they were written; names are valid and distinct

  // nullptr if there is no blob of this name.
  const Blob* find(std::string_view name) const;
};

// A blob's name is its file's name: 1 to 128 letters, digits, '.', '_' and '-', neither a dot at the start nor
// "MANIFEST".
bool is_blob_name(std::string_view name);
bool is_kind(std::string_view kind);

std::vector<std::byte> encode_manifest(const Manifest& manifest);

// A checksum of all of it: equal for sets with the same names, lengths and checksums in the same order.
std::uint64_t digest_of(const Manifest& manifest);

// Throws Error(kBadData) that names `path` and the fault, if a length, checksum or name is wrong (C3), or if the format
// is newer than kBlobSetFormat (C9).
Manifest decode_manifest(std::span<const std::byte> file, const std::filesystem::path& path);

// A blob's description as bytes, to send from the process that wrote the blob to the one that writes the manifest. Both
// run the same program; the bytes are never stored. decode_blob() throws Error(kBadData) unless encode_blob() made
// them.
std::vector<std::byte> encode_blob(const Blob& blob);
Blob decode_blob(std::span<const std::byte> bytes);

}  // namespace cpt
