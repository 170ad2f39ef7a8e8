// Blob sets: a directory with one file per named blob and a MANIFEST, which appears whole or not at all. This layer
// keeps bytes and knows nothing of what they mean. The bytes on disk are described in format.md.
//
// The invariants kept here, by the numbers that code and tests cite:
//   C1 A set exists if and only if its manifest has its final name (it gets there by one rename of the directory).
//   C2 Every file that a manifest names, and its directory entry, was synced before that rename.
//   C3 Length and checksum of every piece are verified before a byte of it is used.
//   C9 Older formats are read for ever, newer ones are refused by name.
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
#include "store/blob/segment_writer.h"
#include "store/fs/durable_file.h"

namespace cpt {

class BlobReader;
class BlobSetReader;

// Writes one blob: that which BlobSetWriter::add() began, or, used alone, a part of a set that another process writes
// (see BlobSetWriter::adopt). Nothing is kept of the blob after an error: its set cannot be committed then.
class BlobWriter {
 public:
  // Begins a new file in a directory that exists. A file that has the name there loses it, and if it has others, too,
  // it stays as it is under those. Error(kFailed) unless is_blob_name(name). A file that was not finished stays where
  // it is, and no set names it. More `threads` than one compress a blob of several segments beside the caller's; the
  // bytes are the same, but what goes wrong may be thrown by a later call than the one that brought them.
  BlobWriter(const std::filesystem::path& directory, const std::string& name, int threads = 1);

  // Any number of bytes at a time.
  void append(std::span<const std::byte> bytes);
  // Ends the current segment: what follows begins a new one, so that BlobReader::skip() gets there without decoding
  // anything before it. Costs 16 bytes of the manifest, and some compression if the pieces are small.
  void cut();
  // Appends the next segments of another blob as they are stored there, verified (C3): so many raw bytes. Only where a
  // segment may begin, here as there, and where one ends there; Error(kFailed) otherwise. The next bytes begin a new
  // one.
  void append_stored(BlobReader& from, std::uint64_t raw_bytes);
  std::uint64_t raw_bytes() const { return raw_bytes_; }  // appended so far
  // Syncs the file, closes it, and syncs its directory (C2). Only the first call does something; in a set the next
  // add(), adopt() or commit() makes it if the caller did not. The reference lives as long as this object.
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

// Writes a blob set into "DIRECTORY.tmp-PID", and makes it DIRECTORY on commit(). One writer per directory at a time.
//
// Several processes may write one set: the one that has this object tells the others directory_for_parts(), each of
// them writes a blob of its own there with a BlobWriter, finishes it and sends back encode_blob() of it, and this
// object adopts them before it commits. No other process may still be writing there when this object commits or goes
// away.
class BlobSetWriter {
 public:
  // `kind` says in a few words what the set is ("cpt model"); a reader asks for it. Error(kCannotWrite) if the
  // temporary directory cannot be made, or if DIRECTORY exists and is neither empty nor a blob set: it would be removed
  // otherwise. `threads` as of BlobWriter.
  BlobSetWriter(std::filesystem::path directory, std::string kind, int threads = 1);
  BlobSetWriter(const BlobSetWriter&) = delete;
  BlobSetWriter& operator=(const BlobSetWriter&) = delete;
  // Removes what was not committed, parts of other processes included.
  ~BlobSetWriter();

  // Finishes the blob before it and begins the next one. The reference is valid until the next add(), adopt() or
  // commit(). `name` must satisfy is_blob_name() and be new to the set; Error(kFailed) otherwise.
  BlobWriter& add(const std::string& name);

  // Where other processes write their parts; gone, under this name, after commit().
  const std::filesystem::path& directory_for_parts() const { return temporary_; }
  // Finishes the blob before it, and enters one that another process wrote into directory_for_parts() and finished: C2
  // is kept by that process. Names as for add(). Error(kCannotWrite) that names the file if it is not there or its
  // length is not that of `blob`; its bytes are not read.
  void adopt(Blob blob);
  // Enters a blob of a finished set under `name`, without writing it again: its file, synced when that set was (C2),
  // gets a second name. Files of sets are never written again, and whichever set goes first takes its name only. Where
  // the file system gives no second name the file is copied, and verified on the way. Names as for add().
  void share(const BlobSetReader& set, std::string_view blob, const std::string& name);

  // Makes the set durable under its final name; an existing set is replaced. At most once, as the last call. After an
  // Error an existing set is as it was.
  void commit();

 private:
  void finish_blob();
  void require_new_name(const std::string& name) const;

  std::filesystem::path directory_;
  std::filesystem::path temporary_;
  Manifest manifest_;
  BlobWriter writer_;
  bool adding_ = false;  // whether writer_ writes the last blob of the manifest, or failed to begin it
  bool committed_ = false;
};

// Reads one blob from front to back. May outlive the BlobSetReader that opened it.
class BlobReader {
 public:
  // Up to out.size() bytes, fewer only at the end; 0 after it. Error(kBadData) if they are not those that were written
  // (the content of `out` is then meaningless). A piece of at least kMaxSegmentBytes is decoded straight into `out`.
  std::size_t read(std::span<std::byte> out);
  // All of `out`; Error(kBadData) if the blob ends before.
  void read_exactly(std::span<std::byte> out);
  // Goes on `raw_bytes` ahead. Segments that are skipped whole are neither read nor verified. Error(kBadData) if the
  // blob ends before, or if the segment in which the skip ends is damaged; the reader is of no use then.
  void skip(std::uint64_t raw_bytes);

  // The next segment as it is stored, verified (C3) and not decoded; its bytes lie in `space`. Nothing at the end.
  // Error(kFailed) where a read or a skip ended within a segment.
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
  std::vector<std::byte> stored_;   // scratch: a segment as it lies in the file
  std::vector<std::byte> decoded_;  // the last segment that did not go straight to the caller
  std::size_t decoded_used_ = 0;    // bytes of it that the caller has
};

// The blobs of a finished set.
class BlobSetReader {
 public:
  // Error(kNoInput) if there is no finished set; Error(kBadData) if it is of another kind, of a newer format, or
  // damaged: manifest and file lengths are verified here, the segments as they are read (C3).
  BlobSetReader(std::filesystem::path directory, const std::string& expected_kind);

  const std::filesystem::path& directory() const { return directory_; }
  bool has(std::string_view name) const { return manifest_.find(name) != nullptr; }
  std::vector<std::string> names() const;  // in the order in which they were added
  // Equal for copies of one set; another set has another one, as far as checksums tell.
  std::uint64_t digest() const { return digest_of(manifest_); }
  // Of a blob; Error(kBadData) if the set has no such one.
  std::uint64_t raw_bytes(std::string_view name) const { return find(name).raw_bytes(); }
  // Error(kBadData) if the set has no such blob.
  BlobReader open(std::string_view name) const;
  // A whole blob; Error(kBadData) if it has more than `max_bytes`, before memory is taken for them.
  std::vector<std::byte> read_all(std::string_view name, std::uint64_t max_bytes) const;
  // Reads all of a blob's file and compares it with its checksums, without decompressing anything (C3). Error(kBadData)
  // that names the file and the place if they differ, or if the set has no such blob.
  void verify(std::string_view name) const;
  std::uint64_t stored_bytes() const { return stored_bytes_; }  // of all its files, the manifest included

 private:
  friend class BlobSetWriter;
  const Blob& find(std::string_view name) const;

  std::filesystem::path directory_;
  Manifest manifest_;
  std::uint64_t stored_bytes_ = 0;
};

// Whether writing to `directory` would destroy nothing but a blob set: it does not exist, is empty, or has a manifest.
bool may_hold_blob_set(const std::filesystem::path& directory);

}  // namespace cpt
