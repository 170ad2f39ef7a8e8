#include "data/source/gzip_source.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cpt/error.h"
#include "data/format/parse_error.h"

namespace cpt {
namespace {

constexpr int kGzipOnly = 16;  // added to the window bits: a gzip header, no zlib header

}  // namespace

bool is_gzip(std::span<const char> first_bytes) { return first_bytes.size() >= 2 && may_be_gzip(first_bytes); }

bool may_be_gzip(std::span<const char> first_bytes) {
  if (!first_bytes.empty() && first_bytes[0] != '\x1f') return false;
  return first_bytes.size() < 2 || first_bytes[1] == '\x8b';
}

GzipSource::GzipSource(InputBuffer input) : input_(std::move(input)) {
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), MAX_WBITS + kGzipOnly) != Z_OK) throw Error(Fault::kFailed, "zlib cannot start");
  stream_.reset(stream.release());
}

void GzipSource::EndInflate::operator()(z_stream* stream) const {
  inflateEnd(stream);
  delete stream;
}

// Zeros behind a member fill up a block of a tape or an archive, as gzip(1) knows.
void GzipSource::drop_padding() {
  while (!input_.bytes().empty() || input_.fill()) {
    const std::span<const char> bytes = input_.bytes();
    const auto end = std::ranges::find_if(bytes, [](char byte) { return byte != 0; });
    input_.drop(static_cast<std::size_t>(end - bytes.begin()));
    if (end != bytes.end()) return;
  }
}

std::size_t GzipSource::read(std::span<char> space) {
  while (true) {
    if (std::exchange(behind_member_, false)) drop_padding();
    // What found no room the last time needs no input, which may be long in coming.
    const bool more = std::exchange(holds_more_, false) || !input_.bytes().empty() || input_.fill();
    if (!more && !inside_member_) return 0;
    if (!inside_member_) inflateReset(stream_.get());
    inside_member_ = true;

    const std::span<const char> in = input_.bytes();
    const auto room = static_cast<uInt>(std::min<std::size_t>(space.size(), std::numeric_limits<uInt>::max()));
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not write to it
    stream_->avail_in = static_cast<uInt>(in.size());
    stream_->next_out = reinterpret_cast<Bytef*>(space.data());
    stream_->avail_out = room;
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    input_.drop(in.size() - stream_->avail_in);
    if (result == Z_STREAM_END) {
      inside_member_ = false;
      behind_member_ = true;
    }
    holds_more_ = inside_member_ && stream_->avail_out == 0;
    if (stream_->avail_out < room) return room - stream_->avail_out;

    const std::string place = " at byte " + std::to_string(input_.offset());
    if (result == Z_MEM_ERROR) throw Error(Fault::kFailed, "no memory to decompress a gzip stream");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      throw CorruptInput("a sound gzip stream", (stream_->msg ? stream_->msg : "a preset dictionary") + place);
    }
    if (!more && inside_member_) throw CorruptInput("the rest of a gzip stream", "its end" + place);
  }
}

}  // namespace cpt
