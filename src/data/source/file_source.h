// Bytes of a file or pipe as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "data/source/byte_source.h"

namespace cpt {

class FileSource : public ByteSource {
 public:
  // The control counts what is read, or skipped, of the range `counted`. Where `size` is given, which a pipe has no use
  // for, no more than that is read of a file, and one that ends before throws Error(kBadData) where it does. Throws
  // Error(kNoInput) if the path cannot be opened or is a directory.
  FileSource(const std::string& path, SharedControl control, ByteRange counted = {},
             std::optional<std::uint64_t> size = {});
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(std::span<char> space) override;
  // Reads nothing of a file.
  std::uint64_t skip(std::uint64_t most) override;

 private:
  std::uint64_t left() const { return size_ ? *size_ - at_ : ~std::uint64_t{0}; }
  void require_end() const;
  void move_on(std::uint64_t bytes);
  bool stopped() const;
  bool is_readable(int milliseconds) const;
  bool wait_until_readable() const;

  std::string path_;
  SharedControl control_;
  ByteRange counted_;
  std::optional<std::uint64_t> size_;
  std::uint64_t at_ = 0;  // bytes read and skipped
  int descriptor_;
  bool may_block_ = false;  // a pipe, terminal or socket
};

}  // namespace cpt
