// A file that many processes may want to write, that one of them writes, and that appears whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "store/fs/durable_file.h"

namespace cpt {

// Until it is published the file lies beside its final name, as "NAME.part", locked. What a process that died has left
// there is taken over by the next one that writes the same file, or swept away. Every failure is an
// Error(kCannotWrite).
class PendingFile {
 public:
  // Nothing if another process is writing the file at this moment, or has just published it or cleared it away.
  static std::optional<PendingFile> begin(const std::filesystem::path& path);
  // Unpublished, it leaves nothing behind.
  ~PendingFile();
  PendingFile(PendingFile&&) = default;
  PendingFile& operator=(PendingFile&&) = delete;

  void write(std::span<const std::byte> bytes) { file_.write(bytes); }
  // Once, at the end. Afterwards, and after a crash at any moment of it, the final name is that of all that was
  // written, or of what it was before.
  void publish();

 private:
  PendingFile(std::filesystem::path path, FileDescriptor lock);

  std::filesystem::path path_;
  FileDescriptor lock_;
  OutputFile file_;
};

// Removes from a directory what processes that died have left of such files, as far as `is_ours` says so of the names
// they would have got. Says nothing of what cannot be removed.
void sweep_pending_files(const std::filesystem::path& directory,
                         const std::function<bool(const std::filesystem::path& name)>& is_ours);

}  // namespace cpt
