// A zstd file of one or more frames.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "data/source/byte_source.h"
#include "data/source/input_buffer.h"

struct ZSTD_DCtx_s;

namespace cpt {

bool is_zstd(std::span<const char> first_bytes);
// Whether they may turn out to be once more are there.
bool may_be_zstd(std::span<const char> first_bytes);

// Takes windows of up to 2 GiB (zstd --long=31).
class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(InputBuffer input);
  std::size_t read(std::span<char> space) override;

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  bool decompress();

  InputBuffer input_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  // Decompressed but not handed out. zstd loses what it decompressed in the call that meets damage; as it always gets
  // the same room, how much of a damaged stream can be read does not depend on who reads it how.
  std::vector<char> content_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  bool inside_frame_ = false;
  bool holds_more_ = false;  // zstd may have decompressed what found no room
};

}  // namespace cpt
