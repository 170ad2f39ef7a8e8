// Compressed text, for tests.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cpt {

// One gzip member.
inline std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// One zstd frame with a checksum.
inline std::string zstd(std::string_view text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  // Streaming without a known size, so that the frame asks for its whole window.
  std::string packed(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  const std::size_t left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  if (left != 0) throw std::runtime_error("zstd");
  packed.resize(out.pos);
  return packed;
}

}  // namespace cpt
