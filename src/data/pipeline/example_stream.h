// Shards to examples.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/example.h"
#include "data/binary/binary_reader.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"
#include "data/source/byte_source.h"
#include "data/text/line_parser.h"
#include "data/text/line_reader.h"

namespace cpt {

// Reads some of the shards of a run once, from wherever a stream before it was left. For one thread at a time, except
// stop(). Shards are opened when their first line is due; in interleaved order all of them are then open together.
class ExampleStream {
 public:
  // `mine` are indices into `shards`, ascending: Origin::shard counts all shards of the run, whoever reads them.
  // `cursors`, parallel to `mine`, say where to go on in each shard; none: all from their beginning. Of a stream that
  // went so far with the same options, what is read then is the rest: the same examples in the same order, with the
  // same origins. Interleaved order begins with the shard of the lowest position, the lowest number first among equals.
  // What lies before a cursor is sought past in a file (but for lists of features, of a binary shard), and decompressed
  // and dropped where it is compressed. Throws Error(kUsage) for a bad interaction, Error(kFailed) if so many files may
  // not be open at a time or if a pipe is not to be read from its beginning.
  ExampleStream(const std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine, ReadOptions options,
                const std::vector<Cursor>& cursors = {});
  ExampleStream(ExampleStream&&) noexcept;
  ExampleStream& operator=(ExampleStream&&) noexcept;
  ~ExampleStream();

  // Opens the shards that have a cursor at once, instead of when their first line is due. To skip into a compressed
  // shard takes as long as to decompress it up to there: `on_progress` is called after each piece of the file, and what
  // it throws leaves this call. An error of a shard is reported when its line is due. In interleaved order only; before
  // anything is read.
  void go_to_cursors(const std::function<void()>& on_progress);

  // An empty batch that scales as the options say; read() takes such a one.
  Batch make_batch() const;

  // Appends the example(s) of one line; false at the end of all shards. Throws Error(kBadData),
  //   "path:line:column: expected X, found 'text'",
  // at a bad line, or, in a part of a text other than the first, "path: byte B: expected ..." with B counted from 0; or
  // skips it if the options say so: a compressed stream that is damaged then ends its shard and counts as one bad line.
  // Throws Error(kNoInput) where reading fails, Error(kBadData) where a format cannot be told, or where a binary shard
  // whose index is damaged is to be read in parts, and Error(kUsage) for interactions in a format without namespaces
  // and for a binary shard that was converted with other options. Nothing of a bad line reaches the batch; a damaged
  // block of a binary shard is one bad line, and where the shard breaks off, what is missing is one. A shard whose
  // content ends before its cursor is Error(kBadData), whatever the options say, and so is a file that became shorter
  // than Shard::bytes; one that became longer is read as if it had not.
  bool read(Batch& batch);

  // The shards it reads, and, parallel to them, how far: where each began or, once it has ended, its end.
  const std::vector<std::uint32_t>& mine() const { return mine_; }
  const std::vector<Cursor>& cursors() const { return cursors_; }

  // Bad lines skipped so far, those before the cursors included.
  std::uint64_t error_lines() const { return error_lines_; }
  // In words, those of them that were not taken yet, but only of the first kWarnings that error_lines() counts.
  std::vector<std::string> take_warnings();
  static constexpr std::uint64_t kWarnings = 20;

  // `call` is called inside read(), by its thread, whenever a pipe has nothing at hand and is going to be waited for.
  // What it throws leaves read(). To be said before anything is read.
  void on_input_idle(std::function<void()> call) { control_->on_input_idle = std::move(call); }
  // Makes a read() that waits for a pipe return soon, in whatever way; nothing may be read afterwards. For other
  // threads.
  void stop() { control_->stop.store(true, std::memory_order_relaxed); }
  // The part of its input that was read or skipped so far, in [0, 1]; negative if a pipe hides how much there is. For
  // any thread.
  double part_read() const;

 private:
  struct ActiveShard;

  void go_to_lowest_position();
  bool open(ActiveShard& shard);
  bool open_text(ActiveShard& shard, std::unique_ptr<ByteSource> source);
  bool open_binary(ActiveShard& shard, std::unique_ptr<ByteSource> source);
  bool begin_part(ActiveShard& shard, std::uint64_t begin);
  template <class Reader, class... Hint>
  bool go_on(Reader& reader, ActiveShard& shard, Hint... hints);
  bool read_from(ActiveShard& shard, Batch& batch);
  bool read_text(ActiveShard& shard, Batch& batch);
  bool read_binary(ActiveShard& shard, Batch& batch);
  bool end_at_damage(ActiveShard& shard, const std::string& reason);
  bool parse(ActiveShard& shard, std::string_view line, Batch& batch);
  static bool count_line(ActiveShard& shard, std::size_t examples, std::size_t features);
  LineParser* parser_of_beginning(const ActiveShard& shard);
  LineParser& parser_for(const ActiveShard& shard, std::uint64_t number, std::string_view line);
  static std::string place(const ActiveShard& shard, std::uint64_t number, std::size_t column);
  void report_bad_line(ActiveShard& shard, std::uint64_t number, std::size_t column, const std::string& reason);

  std::unique_ptr<const ReadOptions> options_;  // does not move: the parsers refer to it
  std::vector<std::uint32_t> mine_;
  std::vector<Cursor> cursors_;  // parallel to mine_
  std::vector<std::unique_ptr<ActiveShard>> active_;
  std::size_t turn_ = 0;                                // index into active_: which shard is read next
  std::array<std::unique_ptr<LineParser>, 4> parsers_;  // by format, made when first needed
  SharedControl control_ = std::make_shared<ReadControl>();
  bool size_known_ = true;  // none of its shards is a pipe
  std::uint64_t error_lines_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace cpt
