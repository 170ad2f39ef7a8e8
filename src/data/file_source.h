// Bytes of a file or pipe as they are.
#pragma once

#include <span>
#include <string>

#include "data/byte_source.h"

namespace cpt {

class FileSource : public ByteSource {
 public:
  // Throws Error(kNoInput) if the path cannot be opened or is a directory.
  FileSource(const std::string& path, SharedControl control);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(std::span<char> space) override;
  // Reads nothing of a file, and counts as read what it skips.
  std::uint64_t skip(std::uint64_t most) override;

 private:
  void count_read(std::uint64_t bytes) const;
  bool stopped() const;
  bool is_readable(int milliseconds) const;
  bool wait_until_readable() const;

  std::string path_;
  SharedControl control_;
  int descriptor_;
  bool may_block_ = false;  // a pipe, terminal or socket
};

}  // namespace cpt
