#include "data/source/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {
namespace {

// Each magic is long enough that no line of text begins with it.
constexpr char kAny = '?';        // stands for any byte
constexpr char kSkippable = '#';  // stands for 0x50 to 0x5f

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::array<std::string_view, 2> kZstdMagics = {"\x28\xb5\x2f\xfd", "#\x2a\x4d\x18"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kForeign = {
    {{"bzip2", "BZh?1AY&"}, {"xz", "\3757zXZ"}, {"zip", "PK\x03\x04"}, {"lz4", "\x04\x22\x4d\x18"}}};

// Compares as many bytes as both have.
bool may_have(std::string_view magic, std::string_view beginning) {
  const auto agrees = [](char expected, char byte) {
    return expected == kAny || byte == expected || (expected == kSkippable && (byte & 0xf0) == 0x50);
  };
  const std::size_t common = std::min(beginning.size(), magic.size());
  return std::equal(magic.begin(), magic.begin() + common, beginning.begin(), agrees);
}

bool has(std::string_view magic, std::string_view beginning) {
  return beginning.size() >= magic.size() && may_have(magic, beginning);
}

constexpr std::size_t kInputBytes = std::size_t{1} << 15;

class Decompressor : public ByteSource {
 protected:
  explicit Decompressor(std::unique_ptr<ByteSource> source) : source_(std::move(source)), buffer_(kInputBytes) {}

  // Compressed bytes that are not used yet.
  std::span<const char> input() const { return {buffer_.data() + first_, last_ - first_}; }
  // Waits for input; false at the end of the source.
  bool has_input() {
    if (first_ == last_) {
      first_ = last_ = 0;
      last_ = source_->read(buffer_);
    }
    return first_ < last_;
  }
  void use(std::size_t count) { first_ += count, used_ += count; }
  std::string place() const { return " at byte " + std::to_string(used_); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::uint64_t used_ = 0;
};

class GzipSource : public Decompressor {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source) : Decompressor(std::move(source)) {
    constexpr int kGzipOnly = 16;  // added to the window bits: a gzip header, no zlib header
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw Error(Fault::kFailed, "zlib cannot start");
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> space) override;

 private:
  // A member may be followed by zeros, which fill up a block of a tape or an archive.
  void drop_padding() {
    while (has_input()) {
      const auto end = std::ranges::find_if(input(), [](char byte) { return byte != 0; });
      const bool all = end == input().end();
      use(static_cast<std::size_t>(end - input().begin()));
      if (!all) return;
    }
  }

  z_stream stream_{};
  bool inside_member_ = false;
  bool behind_member_ = false;  // a member has ended, and no byte after it was used
  bool holds_more_ = false;     // zlib may hold decompressed bytes that found no room
};

std::size_t GzipSource::read(std::span<char> space) {
  while (true) {
    if (std::exchange(behind_member_, false)) drop_padding();
    // Bytes that found no room in the last call need no input, which may be long in coming.
    const bool more = std::exchange(holds_more_, false) || has_input();
    if (!more && !inside_member_) return 0;
    if (!inside_member_) inflateReset(&stream_);
    inside_member_ = true;

    const std::span<const char> in = input();
    const auto room = static_cast<uInt>(std::min<std::size_t>(space.size(), std::numeric_limits<uInt>::max()));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(space.data());
    stream_.avail_out = room;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    use(in.size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      inside_member_ = false;
      behind_member_ = true;
    }
    holds_more_ = inside_member_ && stream_.avail_out == 0;
    if (stream_.avail_out < room) return room - stream_.avail_out;

    if (result == Z_MEM_ERROR) throw Error(Fault::kFailed, "no memory to decompress a gzip stream");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      throw CorruptInput("a sound gzip stream", (stream_.msg ? stream_.msg : "a preset dictionary") + place());
    }
    if (!more && inside_member_) throw CorruptInput("the rest of a gzip stream", "its end" + place());
  }
}

class ZstdSource : public Decompressor {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source) : Decompressor(std::move(source)) {
    constexpr int kMaxWindowLog = 31;
    if (!context_ || ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog)) != 0) {
      throw Error(Fault::kFailed, "zstd cannot start");
    }
  }

  std::size_t read(std::span<char> space) override {
    if (first_ == last_ && !fill()) return 0;
    const std::size_t count = std::min(space.size(), last_ - first_);
    std::memcpy(space.data(), content_.data() + first_, count);
    first_ += count;
    return count;
  }

 private:
  bool fill();

  // Modest, because a rank may have a thousand shards open.
  static constexpr std::size_t kContentBytes = std::size_t{1} << 16;

  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  // Decompressed but not handed out. zstd loses what it decompressed in the call that meets damage; as it always gets
  // the same room, how much of a damaged stream can be read does not depend on the sizes of reads.
  std::vector<char> content_ = std::vector<char>(kContentBytes);
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool inside_frame_ = false;
  bool holds_more_ = false;  // zstd may hold decompressed bytes that found no room
};

// False at the end.
bool ZstdSource::fill() {
  while (true) {
    const bool more = std::exchange(holds_more_, false) || has_input();
    if (!more && !inside_frame_) return false;

    ZSTD_inBuffer in{input().data(), input().size(), 0};
    ZSTD_outBuffer out{content_.data(), content_.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    use(in.pos);
    if (ZSTD_isError(result) != 0) throw CorruptInput("a sound zstd stream", ZSTD_getErrorName(result) + place());
    inside_frame_ = result != 0;
    holds_more_ = inside_frame_ && out.pos == out.size;
    first_ = 0;
    last_ = out.pos;
    if (out.pos > 0) return true;
    if (!more && inside_frame_) throw CorruptInput("the rest of a zstd stream", "its end" + place());
  }
}

}  // namespace

Compression compression_of(std::string_view beginning) {
  if (has(kGzipMagic, beginning)) return Compression::kGzip;
  const bool zstd = std::ranges::any_of(kZstdMagics, [&](auto magic) { return has(magic, beginning); });
  return zstd ? Compression::kZstd : Compression::kNone;
}

bool may_be_compressed(std::string_view beginning) {
  return may_have(kGzipMagic, beginning) ||
         std::ranges::any_of(kZstdMagics, [&](auto magic) { return may_have(magic, beginning); });
}

std::string_view foreign_compression(std::string_view beginning) {
  for (const auto& [name, magic] : kForeign) {
    if (has(magic, beginning)) return name;
  }
  return {};
}

bool may_be_foreign_compression(std::string_view beginning) {
  return std::ranges::any_of(kForeign, [&](const auto& each) { return may_have(each.second, beginning); });
}

std::unique_ptr<ByteSource> decompress(Compression compression, std::unique_ptr<ByteSource> source) {
  switch (compression) {
    case Compression::kGzip:
      return std::make_unique<GzipSource>(std::move(source));
    case Compression::kZstd:
      return std::make_unique<ZstdSource>(std::move(source));
    case Compression::kNone:
      break;
  }
  return source;
}

}  // namespace cpt
