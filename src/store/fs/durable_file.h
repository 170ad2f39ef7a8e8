// Files and directories that survive a power failure, on plain POSIX calls. Every failure is an Error that names the
// path and the system's reason: kCannotWrite where something was to be written, kNoInput where something was to be
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/file_descriptor.h"

namespace cpt {

// A new file, written from its beginning; an existing one is cut to nothing. What was written is durable only after
// sync(), and the file's name only after sync_directory() of its directory.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);

  void write(std::span<const std::byte> bytes);
  void sync();
  // Reports what the file system found out late; the destructor closes too, but in silence.
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

// An existing file, read at any offset.
class InputFile {
 public:
  explicit InputFile(std::filesystem::path path);

  std::uint64_t size() const;
  // Fills `out` from `offset` on; returns how many bytes that were, fewer than out.size() only at the end of the file.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) const;
  // Tells the kernel to read ahead far: the file will be read from front to back.
  void expect_sequential_reads() const;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

// All bytes of a file; Error(kBadData) if there are more than `max_bytes`, before memory is taken for them.
std::vector<std::byte> read_file(const std::filesystem::path& path,
                                 std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

// After this, and after a crash at any moment of it, `path` holds either all of `bytes` or what it held before.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

// Creates a directory and those above it as far as they are missing, all durable. An existing directory is fine.
void create_directory_durably(const std::filesystem::path& path);

// Makes the names in a directory durable: what was created, renamed and removed there.
void sync_directory(const std::filesystem::path& path);

// Gives the directory `from` the name `to`, durably. What had that name before is renamed aside, and removed once the
// new one is in its place; if the new one cannot be put there, it gets its name back.
void publish_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// The same, but nothing is replaced: Error(kCannotWrite) where something but an empty directory has that name.
void publish_new_directory(const std::filesystem::path& from, const std::filesystem::path& to);

// Where publish_directory() was killed between the two, so that nothing has the name `path`: what it had renamed aside
// gets its name back, durably.
void restore_directory(const std::filesystem::path& path);

// Gives a file a second name on the same file system, which must be new; durable after sync_directory() of its
// directory. False, and nothing done, if the file system does not do that, or not for these two.
bool link_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes a file or a whole directory, durably. A directory vanishes in one step, by a rename; a crash before its files
// are gone leaves a temporary name. Fine if there is none.
void remove_durably(const std::filesystem::path& path);

// A name beside `path` for what is not finished yet: "PATH.tmp-PID", the process number in ten digits. One
// process uses it for one thing at a time.
std::filesystem::path temporary_name(const std::filesystem::path& path);
// Whether `path` looks like such a name, of any process.
bool is_temporary_name(const std::filesystem::path& path);

// The directory that holds `path`; "." if it names none.
std::filesystem::path directory_of(const std::filesystem::path& path);

}  // namespace cpt
