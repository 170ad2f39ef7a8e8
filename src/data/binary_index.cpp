#include "data/binary_index.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "cpt/error.h"
#include "data/binary_reader.h"
#include "data/byte_source.h"
#include "data/rejection.h"

namespace cpt {
namespace {

// What the last bytes of the file say.
std::uint64_t offset_of_index(const std::string& path) {
  constexpr std::uint64_t kTrailer = sizeof(std::uint64_t) + kBinaryMagicBytes;
  std::error_code failure;
  const std::uint64_t bytes = std::filesystem::file_size(path, failure);
  if (failure) throw Error(Fault::kNoInput, describe_errno("stat", failure.value()));
  const auto file = open_bytes(path, nullptr);
  std::uint64_t skipped = 0;
  while (skipped + kTrailer < bytes) {
    const std::uint64_t count = file->skip(bytes - kTrailer - skipped);
    if (count == 0) break;
    skipped += count;
  }
  std::uint64_t offset = 0;
  std::array<char, sizeof offset> text{};
  std::size_t filled = 0;
  while (filled < text.size()) {
    const std::size_t count = file->read(std::span(text).subspan(filled));
    if (count == 0) throw DamagedStream("the index of a binary shard", "the end of the file");
    filled += count;
  }
  std::memcpy(&offset, text.data(), sizeof offset);
  return offset;
}

}  // namespace

std::vector<IndexEntry> read_index(const std::string& path, const std::string& header, const ReadOptions& options) {
  const std::uint64_t offset = offset_of_index(path);
  BinaryReader blocks(open_bytes(path, nullptr), options);
  blocks.read_header(header);
  return blocks.read_index(offset);
}

}  // namespace cpt
