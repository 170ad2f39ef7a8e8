// Binary copies of text shards: a binary shard that also knows where its lines end in the text. What is read from one
// has the origins that it would have from the text, so a reader can change from either to the other after any line.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/binary/binary_reader.h"
#include "data/binary/binary_writer.h"
#include "data/format/read_options.h"
#include "data/shards/cursor.h"
#include "data/shards/shards.h"
#include "data/source/byte_source.h"

namespace cpt {

// What a copy is made of: the text as it is now, and how it is read.
struct CopySource {
  // Path (absolute, without links), size, time of the last change to the nanosecond, which part it is, all options on
  // which its examples depend, and the formats of text and copy. A copy of another key is none of this text.
  std::string key;
  // It was changed so recently that another change might leave the time as it is. No copy must be made of it yet.
  bool settled = true;
};

// Of shard `number`; nothing if it cannot be looked at.
std::optional<CopySource> copy_source(const Shard& shard, std::uint32_t number, const ReadOptions& options);

// Whether the shard is text, compressed or not, that can be read again: no pipe and no binary shard. False where it
// cannot be read.
bool is_text_file(const Shard& shard);

struct WrittenCopy {
  std::uint64_t lines = 0;  // with examples
  bool whole = true;        // else it ends before the first bad line
};

// Writes a copy of shard `number` to `sink`: of all lines, or of those before the first bad one. Nothing if `gives_up`
// said so, which is asked now and then; what was written is of no use then. Throws what the sink throws, and what a
// reader of the text throws at anything but a bad line.
std::optional<WrittenCopy> write_copy(const std::vector<Shard>& shards, std::uint32_t number,
                                      const ReadOptions& options, const std::string& key,
                                      const BinaryWriter::Sink& sink, const std::function<bool()>& gives_up);

// Throws Error, where the file is not a copy with this key that has its beginning and its end.
void check_copy(const std::string& path, const std::string& key, const ReadOptions& options);

// Not thread-safe.
class CopyReader {
 public:
  // Throws Error where it is not a copy with this key. `options` must outlive it.
  CopyReader(const std::string& path, const std::string& key, const ReadOptions& options, SharedControl control);

  // Before the first line: goes on where the text was left. False if the copy does not know of this place: it is beyond
  // its end or not at the end of a line with examples, or of the text. Throws as next().
  bool go_on(const Cursor& cursor);
  // As BinaryReader's: false at the end of the copy. Throws CorruptInput and ParseError, and Error where it cannot be
  // read; after any of them, and for a line that a run with its own list of labels refuses, the text is to be read.
  bool next(const Origin& origin, Batch& batch) { return blocks_->next(origin, batch); }

  // After next(): where the line ends in the text, or once it was false, the text itself. Nothing, if the text has more
  // than the copy.
  const TextPlace& place() const { return blocks_->place(); }
  std::optional<TextPlace> end() const;

 private:
  std::string path_;
  const std::string key_;
  const ReadOptions& options_;
  std::unique_ptr<BinaryReader> blocks_;
};

}  // namespace cpt
