#include "data/pipeline/text_size.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cpt/error.h"
#include "data/binary/binary_shard.h"
#include "data/source/gzip_source.h"
#include "data/source/zstd_source.h"

namespace cpt {

namespace {

using Told = std::optional<std::uint64_t>;

class PackedFile {
 public:
  explicit PackedFile(const Shard& shard) : file_(shard.path, std::ios::binary), bytes_(shard.bytes) {
    if (!file_) throw Error(Fault::kNoInput, shard.path + ": " + describe_errno("open", errno));
    file_.read(beginning_.data(), static_cast<std::streamsize>(beginning_.size()));
    length_ = static_cast<std::size_t>(file_.gcount());
    file_.clear();
  }

  std::string_view beginning() const { return {beginning_.data(), length_}; }
  std::uint64_t bytes() const { return bytes_; }
  // False where the file has no such bytes.
  bool read_at(std::uint64_t offset, std::span<std::byte> out) {
    if (offset > bytes_ || out.size() > bytes_ - offset) return false;
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return file_.good();
  }
  template <class T>
  bool read_value(std::uint64_t offset, T& value) {
    return read_at(offset, std::as_writable_bytes(std::span<T, 1>(&value, 1)));
  }

 private:
  std::ifstream file_;
  std::uint64_t bytes_;
  std::array<char, 18> beginning_{};  // the longest head of a zstd frame
  std::size_t length_ = 0;
};

// The last four bytes are the size of the last member modulo 2^32; the multiple is the likeliest.
Told text_of_gzip(PackedFile& file) {
  constexpr std::uint64_t kModulus = std::uint64_t{1} << 32;
  std::uint32_t rest = 0;
  if (file.bytes() < sizeof rest || !file.read_value(file.bytes() - sizeof rest, rest)) return std::nullopt;
  const std::uint64_t likely = kTextOfPacked * file.bytes();
  return rest + (std::max<std::uint64_t>(likely + kModulus / 2, rest) - rest) / kModulus * kModulus;
}

Told text_of_zstd(const PackedFile& file) {
  const unsigned long long told = ZSTD_getFrameContentSize(file.beginning().data(), file.beginning().size());
  if (told == ZSTD_CONTENTSIZE_UNKNOWN || told == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return told;
}

// Damage is for who reads the shard to tell.
Told text_of_binary(PackedFile& file) {
  Trailer trailer;
  BlockHead head;
  if (file.bytes() < sizeof trailer || !file.read_value(file.bytes() - sizeof trailer, trailer)) return std::nullopt;
  if (!trailer.is_whole() || !file.read_value(trailer.index, head) || head.head_checksum != head_checksum(head))
    return std::nullopt;
  const bool tells = head.kind == BlockKind::kIndex && head.raw_bytes % sizeof(IndexEntry) == sizeof(std::uint64_t);
  if (!tells || head.raw_bytes > kMostPayloadBytes || head.stored_bytes > file.bytes()) return std::nullopt;
  std::vector<std::byte> payload(head.stored_bytes);
  if (!file.read_at(trailer.index + sizeof head, payload)) return std::nullopt;
  if (payload_checksum(payload) != head.checksum) return std::nullopt;
  if (head.stored_bytes < head.raw_bytes) {
    std::vector<std::byte> raw(head.raw_bytes);
    if (ZSTD_decompress(raw.data(), raw.size(), payload.data(), payload.size()) != raw.size()) return std::nullopt;
    payload.swap(raw);
  }
  std::uint64_t text = 0;
  std::ranges::copy(std::span(payload).last(sizeof text), std::as_writable_bytes(std::span(&text, 1)).begin());
  return text;
}

}  // namespace

std::uint64_t estimated_text_bytes(const Shard& shard) {
  if (!shard.regular) return 0;
  PackedFile file(shard);
  const std::span<const char> beginning(file.beginning());
  Told told;
  if (is_gzip(beginning)) {
    told = text_of_gzip(file);
  } else if (is_zstd(beginning)) {
    told = text_of_zstd(file);
  } else if (is_binary_shard(file.beginning())) {
    told = text_of_binary(file);
  } else {
    return shard.bytes;
  }
  // A part of several is less than the whole.
  return told && *told >= shard.bytes / 2 ? *told : shard.bytes * kTextOfPacked;
}

}  // namespace cpt
