#include "data/source/zstd_source.h"

#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {
namespace {

constexpr int kMaxWindowLog = 31;
// Modest, because a rank may have a thousand shards open.
constexpr std::size_t kContentBytes = std::size_t{1} << 16;

}  // namespace

bool is_zstd(std::span<const char> first_bytes) { return first_bytes.size() >= 4 && may_be_zstd(first_bytes); }

// Magics are numbers of four bytes, the lowest one first.
bool may_be_zstd(std::span<const char> first_bytes) {
  std::uint32_t begun = 0;
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(first_bytes.size(), 4); ++i) {
    begun |= std::uint32_t{static_cast<unsigned char>(first_bytes[i])} << (8 * i);
    mask |= std::uint32_t{0xff} << (8 * i);
  }
  const std::uint32_t skippable = mask & ZSTD_MAGIC_SKIPPABLE_MASK;
  return begun == (ZSTD_MAGICNUMBER & mask) || (begun & skippable) == (ZSTD_MAGIC_SKIPPABLE_START & skippable);
}

ZstdSource::ZstdSource(InputBuffer input) : input_(std::move(input)), context_(ZSTD_createDCtx()) {
  if (!context_ || ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog)) != 0) {
    throw Error(Fault::kFailed, "zstd cannot start");
  }
}

void ZstdSource::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

std::size_t ZstdSource::read(std::span<char> space) {
  if (first_ == last_ && !decompress()) return 0;
  const std::size_t count = std::min(space.size(), last_ - first_);
  std::memcpy(space.data(), content_.data() + first_, count);
  first_ += count;
  return count;
}

// False at the end.
bool ZstdSource::decompress() {
  if (content_.empty()) content_.resize(kContentBytes);
  while (true) {
    // What found no room the last time needs no input, which may be long in coming.
    const bool more = std::exchange(holds_more_, false) || !input_.bytes().empty() || input_.fill();
    if (!more && !inside_frame_) return false;

    const std::span<const char> bytes = input_.bytes();
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{content_.data(), content_.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    input_.drop(in.pos);
    const std::string place = " at byte " + std::to_string(input_.offset());
    if (ZSTD_isError(result) != 0) {
      throw CorruptInput("a sound zstd stream", ZSTD_getErrorName(result) + place);
    }
    inside_frame_ = result != 0;
    holds_more_ = inside_frame_ && out.pos == out.size;
    first_ = 0;
    last_ = out.pos;
    if (out.pos > 0) return true;
    if (!more && inside_frame_) throw CorruptInput("the rest of a zstd stream", "its end" + place);
  }
}

}  // namespace cpt
