// Files and pipes: their bytes as stored, and the number that may be open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "data/source/byte_source.h"

namespace cpt {

class FileSource : public ByteSource {
 public:
  // The control counts bytes of the range `counted` that are read or skipped. With `size`, at most that much is read of
  // a file, and a shorter one throws Error(kBadData) at its end; pipes ignore it. Throws Error(kNoInput) if the path
  // cannot be opened or is a directory.
  FileSource(const std::string& path, SharedControl control, ByteRange counted = {},
             std::optional<std::uint64_t> size = {});
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(std::span<char> space) override;
  // Seeks in a file.
  std::uint64_t skip(std::uint64_t most) override;

 private:
  std::uint64_t left() const { return size_ ? *size_ - at_ : ~std::uint64_t{0}; }
  void require_end() const;
  void move_on(std::uint64_t bytes);
  bool stopped() const;
  bool wait_until_readable() const;

  std::string path_;
  SharedControl control_;
  ByteRange counted_;
  std::optional<std::uint64_t> size_;
  std::uint64_t at_ = 0;  // bytes read and skipped
  int descriptor_;
  bool may_block_ = false;  // a pipe, terminal or socket
};

// The advice if a rank has too many shards.
inline constexpr const char* kIfTooManyShards = "use more ranks or fewer and larger shards (a smaller --split)";

// Raises the soft limit of open files so that this process can open `count` more. Throws Error(kFailed) if the hard
// limit does not allow it; the message gives both numbers and says to raise it or to follow `advice`.
void allow_open_files(std::size_t count, const std::string& advice);

}  // namespace cpt
