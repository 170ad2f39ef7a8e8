// A gzip file of one or more members.
#pragma once

#include <zlib.h>

#include <memory>
#include <span>

#include "data/source/byte_source.h"
#include "data/source/input_buffer.h"

namespace cpt {

bool is_gzip(std::span<const char> first_bytes);
// Whether they may turn out to be once more are there.
bool may_be_gzip(std::span<const char> first_bytes);

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(InputBuffer input);
  std::size_t read(std::span<char> space) override;

 private:
  struct EndInflate {
    void operator()(z_stream* stream) const;
  };

  void drop_padding();

  InputBuffer input_;
  std::unique_ptr<z_stream, EndInflate> stream_;
  bool inside_member_ = false;
  bool behind_member_ = false;  // and no byte of another one has come
  bool holds_more_ = false;     // zlib may have decompressed what found no room
};

}  // namespace cpt
