// A zstd file of one or more frames.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "data/byte_source.h"
#include "data/input_buffer.h"

struct ZSTD_DCtx_s;

namespace cpt {

bool is_zstd(std::span<const char> first_bytes);

// Takes windows of up to 2 GiB (zstd --long=31).
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(InputBuffer input);
  std::size_t read(std::span<char> space) override;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  InputBuffer input_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  bool inside_frame_ = false;
};

}  // namespace cpt
