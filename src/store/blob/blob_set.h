// Blob sets: directories with one file per named blob and a MANIFEST, which appear whole or not at all. This layer
// stores bytes and does not interpret them. format.md describes the files.
//
// The invariants kept here, by the numbers that code and tests cite:
//   C1 A set exists if and only if its manifest has its final name; one rename of the directory gives it that name.
//   C2 Every file that a manifest names, and its directory entry, was synced before that rename.
//   C3 The length and checksum of every segment are verified before a byte of it is used.
//   C9 An older format is read or refused by number, a newer one refused by number.
//
// One object serves one thread at a time; different objects are independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/blob/manifest.h"
#include "store/blob/segments.h"
#include "store/fs/durable_file.h"

namespace cpt {

class BlobReader;
class BlobSetReader;

// Writes one blob: the one that BlobSetWriter::add() began, or, on its own, a part of a set that another process writes
// (see BlobSetWriter::adopt). After an error the blob is lost, and its set cannot be committed.
class BlobWriter {
 public:
  // Begins a new file in an existing directory. A file of that name is unlinked first; other hard links to it keep
  // their contents. Throws Error(kFailed) unless is_blob_name(name). An unfinished file stays in the directory, but no
  // set names it. If `threads` is above 1, that many threads beside the caller's compress a blob of several segments;
  // the bytes are the same, but an error may be thrown by a later call than the one that appended the bytes.
  BlobWriter(const std::filesystem::path& directory, const std::string& name, int threads = 1);

  // Any number of bytes at a time.
  void append(std::span<const std::byte> bytes);
  // Ends the current segment, so that BlobReader::skip() reaches the bytes after it without decoding those before it.
  // Costs 16 bytes in the manifest, and some compression if the pieces are small.
  void cut();
  // Appends the next `raw_bytes` of another blob: its segments as they are stored, verified (C3). Throws Error(kFailed)
  // unless both blobs are between segments and the bytes end with a segment. The bytes appended next begin a new
  // segment.
  void append_stored(BlobReader& from, std::uint64_t raw_bytes);
  std::uint64_t raw_bytes() const { return raw_bytes_; }  // appended so far
  // Syncs the file, closes it, and syncs its directory (C2). Later calls do nothing. In a set, the next add(), adopt()
  // or commit() calls it if the caller did not. The reference is valid as long as this object.
  const Blob& finish();

 private:
  friend class BlobSetWriter;
  explicit BlobWriter(int threads) : threads_(threads) {}
  void begin(const std::filesystem::path& directory, const std::string& name);
  void require_intact() const;
  void require_unfinished() const;

  int threads_;
  std::vector<std::byte> pending_;         // fewer than kMaxSegmentBytes
  std::optional<OutputFile> file_;         // while a blob is open
  std::optional<SegmentWriter> segments_;  // the same; uses file_
  Blob blob_;
  std::uint64_t raw_bytes_ = 0;
  bool intact_ = true;  // false during and after a write that failed
};

// Writes a blob set into "DIRECTORY.tmp-NUMBER", and makes it DIRECTORY on commit(). One writer per directory at a
// time.
//
// Several processes may write one set. The owner of this object sends directory_for_parts() to the others; each of them
// writes a blob there with a BlobWriter, finishes it, and sends encode_blob() of it back; and the owner adopts the
// blobs before it commits. No other process may still be writing there when this object commits or is destroyed.
class BlobSetWriter {
 public:
  // `kind` says in a few words what the set is, such as "cpt model"; readers must expect the same. `threads` as for
  // BlobWriter. Throws Error(kCannotWrite) if the temporary directory cannot be created beside DIRECTORY, or if
  // DIRECTORY exists and is neither empty nor a blob set: commit() would remove it.
  BlobSetWriter(std::filesystem::path directory, std::string kind, int threads = 1);
  BlobSetWriter(const BlobSetWriter&) = delete;
  BlobSetWriter& operator=(const BlobSetWriter&) = delete;
  // Removes a set that was not committed, including the parts of other processes.
  ~BlobSetWriter();

  // Finishes the previous blob and begins the next one. The reference is valid until the next add(), adopt() or
  // commit(). Throws Error(kFailed) unless is_blob_name(name) and the name is new to the set.
  BlobWriter& add(const std::string& name);

  // The directory where other processes write their parts; commit() renames it.
  const std::filesystem::path& directory_for_parts() const { return temporary_; }
  // Finishes the previous blob, and adds one that another process has written into directory_for_parts() and finished;
  // that process has kept C2. Names as for add(). Throws Error(kCannotWrite) that names the file if it is missing or
  // its length is not that of `blob`. Does not read its bytes.
  void adopt(Blob blob);
  // Adds a blob of a finished set under `name` without writing it again, by a hard link to its file, which was synced
  // with that set (C2). Files of sets are never written again, and removing either set removes only its own link. If
  // the file system cannot link, copies the file and verifies it on the way. Names as for add().
  void share(const BlobSetReader& set, std::string_view blob, const std::string& name);

  // Makes the set durable under its final name, and replaces an existing set. At most once, as the last call. After an
  // Error, an existing set is unchanged.
  void commit();

 private:
  void finish_blob();
  void require_new_name(const std::string& name) const;

  std::filesystem::path directory_;
  std::filesystem::path temporary_;
  Manifest manifest_;
  BlobWriter writer_;
  bool adding_ = false;  // writer_ is writing the last blob of the manifest, or failed to begin it
  bool committed_ = false;
};

// Reads one blob from front to back. May outlive the BlobSetReader that opened it.
class BlobReader {
 public:
  // Reads up to out.size() bytes and returns their number, fewer only at the end; 0 after it. Throws Error(kBadData) if
  // the file is damaged (`out` is then meaningless). Segments that fit whole are decoded straight into `out`.
  std::size_t read(std::span<std::byte> out);
  // Fills `out`; throws Error(kBadData) if the blob ends before.
  void read_exactly(std::span<std::byte> out);
  // Skips `raw_bytes`. Segments that are skipped whole are neither read nor verified. Throws Error(kBadData) if the
  // blob ends before, or if the segment in which the skip ends is damaged; do not use the reader after that.
  void skip(std::uint64_t raw_bytes);

  // The next segment as it is stored, verified (C3) but not decoded; its bytes lie in `space`. nullopt at the end.
  // Throws Error(kFailed) if the last read or skip ended within a segment.
  std::optional<SegmentEncoder::Encoded> next_stored(std::vector<std::byte>& space);

  std::uint64_t raw_bytes() const { return raw_bytes_; }  // of the whole blob

 private:
  friend class BlobSetReader;
  BlobReader(const std::filesystem::path& directory, Blob blob);
  void decode_next(std::span<std::byte> out);
  void decode_next();
  [[noreturn]] void fail_ended_before(std::uint64_t missing_bytes) const;

  InputFile file_;
  Blob blob_;
  std::uint64_t raw_bytes_;
  SegmentDecoder decoder_;
  std::size_t next_segment_ = 0;
  std::uint64_t file_offset_ = 0;   // where that segment begins
  std::vector<std::byte> stored_;   // scratch: a segment as stored in the file
  std::vector<std::byte> decoded_;  // the last segment that was not decoded straight into the caller's memory
  std::size_t decoded_used_ = 0;    // bytes of it that the caller has read
};

// The blobs of a finished set.
class BlobSetReader {
 public:
  // Throws Error(kNoInput) if there is no finished set; Error(kBadData) if it is of another kind, of a newer format, or
  // damaged. Verifies the manifest and the lengths of files; segments are verified as they are read (C3).
  BlobSetReader(std::filesystem::path directory, const std::string& expected_kind);

  const std::filesystem::path& directory() const { return directory_; }
  bool has(std::string_view name) const { return manifest_.find(name) != nullptr; }
  std::vector<std::string> names() const;  // in the order in which they were added
  // A checksum of the manifest: equal for copies of one set, and different for other sets.
  std::uint64_t digest() const { return digest_of(manifest_); }
  // These throw Error(kBadData) if the set has no such blob.
  std::uint64_t raw_bytes(std::string_view name) const { return find(name).raw_bytes(); }
  BlobReader open(std::string_view name) const;
  // A whole blob. Throws Error(kBadData) if it has more than `max_bytes`, before it allocates memory for them.
  std::vector<std::byte> read_all(std::string_view name, std::uint64_t max_bytes) const;
  // Reads a blob's file and compares it with its checksums, without decompressing anything (C3). Throws Error(kBadData)
  // that names the file and the offset if they differ.
  void verify(std::string_view name) const;
  std::uint64_t stored_bytes() const { return stored_bytes_; }  // of all files, including the manifest

 private:
  friend class BlobSetWriter;
  const Blob& find(std::string_view name) const;

  std::filesystem::path directory_;
  Manifest manifest_;
  std::uint64_t stored_bytes_ = 0;
};

// Whether writing to `directory` would destroy nothing but a blob set: it is missing, empty, or has a manifest.
bool may_hold_blob_set(const std::filesystem::path& directory);

}  // namespace cpt
