// Files and directories that survive a power failure, on plain POSIX calls. Every failure is an Error that names the
// path and the system's reason: kCannotWrite from calls that write, kNoInput from calls that read.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/file_descriptor.h"

namespace cpt {

// Throws Error(kCannotWrite), "PATH: ACTION failed: REASON", for an error number of the system.
[[noreturn]] void fail_writing(const std::filesystem::path& path, const std::string& action, int error_number = errno);

// A new file, written from its beginning; an existing file is truncated. Its bytes are durable only after sync(), and
// its name only after sync_directory() of its directory.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);

  void write(std::span<const std::byte> bytes);
  void sync();
  // Throws errors that the file system reports late. The destructor closes the file too, but ignores them.
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

// An existing file, read at any offset.
class InputFile {
 public:
  // Does not wait for a writer: throws Error(kNoInput) at a pipe or a device.
  explicit InputFile(std::filesystem::path path);

  std::uint64_t size() const;
  // Fills `out` from `offset` on. Returns the number of bytes read, below out.size() only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // Makes the kernel read far ahead, for a file that is read from front to back.
  void expect_sequential_reads() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

// All bytes of a file. Throws Error(kBadData) if there are more than `max_bytes`, before it allocates memory for them.
std::vector<std::byte> read_file(const std::filesystem::path& path,
                                 std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

// After this, and after a crash at any moment of it, `path` holds either all of `bytes` or what it held before.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Creates a directory durably. An existing directory is fine; the one above it must exist.
void create_directory_durably(const std::filesystem::path& path);

// The same, and creates the missing directories above it.
void create_directories_durably(const std::filesystem::path& path);

// Makes the names in a directory durable: all that was created, renamed and removed there.
void sync_directory(const std::filesystem::path& path);

// Durably renames the directory `from` to `to`, which must lie in the same directory. An old file or directory of that
// name exchanges its name with `from`, in one step, and is removed then. Where the file system cannot exchange names,
// the old one is renamed aside first, so that for a moment nothing has the name. If that fails, the old one gets its
// name back.
void publish_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// The same, but replaces nothing except an empty directory: otherwise throws Error(kCannotWrite).
void publish_new_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// The file or directory that publish_directory() has renamed aside and not removed yet, because it runs in another
// process or was killed. Empty if there is nothing.
std::filesystem::path find_set_aside(const std::filesystem::path& path);

// Undoes a publish_directory() that was killed between two renames: if nothing has the name `path`, what was
// renamed aside gets that name back, durably.
void restore_directory(const std::filesystem::path& path);

enum class Links : std::uint8_t { kFollow, kKeep };
// The type of what has the name `path`; file_type::not_found if nothing has, or if the link leads to nothing. Throws
// Error(kNoInput) if the system cannot tell, as for lack of permission: whatever is there is not missing.
std::filesystem::file_type type_of(const std::filesystem::path& path, Links links = Links::kFollow);

// Hard-links a file under a new name on the same file system; durable after sync_directory() of its directory. Returns
// false, and does nothing, if the file system cannot.
bool link_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Durably removes a file or a whole directory; does nothing if there is none. A directory vanishes in one step, by a
// rename to a temporary name; a crash before its files are gone leaves that name.
void remove_durably(const std::filesystem::path& path);

// A name beside `path` for output that is not complete yet: "PATH.tmp-NUMBER", ten digits that differ between
// processes, of all machines and containers, but for a chance of 1e-10. A process may use it for one thing at a time.
std::filesystem::path temporary_name(const std::filesystem::path& path);
// Whether `path` has the form of such a name, of any process.
bool is_temporary_name(const std::filesystem::path& path);

// The directory that contains `path`; "." if `path` has no directory part.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace cpt
