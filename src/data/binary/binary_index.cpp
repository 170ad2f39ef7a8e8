#include "data/binary/binary_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "cpt/error.h"
#include "data/binary/binary_reader.h"
#include "data/format/parse_error.h"
#include "data/shards/split.h"
#include "data/source/byte_source.h"

namespace cpt {
namespace {

// The last bytes of the file.
Trailer read_trailer(const std::string& path) {
  constexpr const char* kIndex = "the index of a binary shard";
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure) throw Error(Fault::kNoInput, input_name(path) + ": " + describe_errno("stat", failure.value()));
  const auto file = open_bytes(path, nullptr);
  Trailer trailer;
  std::array<char, sizeof trailer> text{};
  std::uint64_t skipped = 0;
  while (skipped + sizeof trailer < bytes) {
    const std::uint64_t count = file->skip(bytes - sizeof trailer - skipped);
    if (count == 0) break;
    skipped += count;
  }
  if (read_fully(*file, text) < text.size()) throw CorruptInput(kIndex, "the end of the file");
  std::memcpy(&trailer, text.data(), sizeof trailer);
  if (!trailer.is_whole()) throw CorruptInput(kIndex, "something else");
  return trailer;
}

}  // namespace

std::vector<IndexEntry> read_index(const std::string& path, const std::string& header, const ReadOptions& options) {
  const Trailer trailer = read_trailer(path);
  BinaryReader blocks(open_bytes(path, nullptr), options);
  blocks.read_header(header);
  return blocks.read_index(trailer.index);
}

std::uint64_t list_at(const Shard& shard, std::uint64_t bytes, const ReadOptions& options) {
  try {
    if (!can_be_split(shard)) return 0;  // offsets are not those of the file
    const std::vector<IndexEntry> index = read_index(shard.path, reader_signature(options), options);
    const auto behind = std::ranges::upper_bound(index, bytes, {}, &IndexEntry::offset);
    return behind == index.begin() ? 0 : std::prev(behind)->list;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace cpt
