// Reads shards as one stream of examples.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/example.h"
#include "data/binary/binary_reader.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/parsers/line_parser.h"
#include "data/shards/shards.h"
#include "data/source/byte_source.h"
#include "data/text/line_reader.h"

namespace cpt {

// A line that ExampleStream::read() has returned for, under ReadOptions::every_line.
struct InputLine {
  std::uint32_t shard = 0;
  std::uint64_t number = 0;  // in its shard, from 1
  std::string tag = {};      // of a vw line
  std::string error = {};    // "path:line:column: expected ..." under ReadOptions::answer_bad_lines; else empty
};

// The most bytes that the buffers of this number of shards of text take together, while all are open and no line is
// longer than a buffer.
std::uint64_t most_line_buffers(std::uint64_t shards);

// Reads some of the shards of a run once, from their starts or from where an earlier stream was left. For one thread at
// a time, except stop(). Shards are opened when their first line is due; in interleaved order all are open together.
// Each shard of text then has a buffer, which is smaller if there are many (most_line_buffers()); each binary shard has
// its list of features and a decoded block, and all share the memory for decoding blocks.
class ExampleStream {
 public:
  // `mine` are indices into `shards`, ascending: Origin::shard counts all shards of the run. `cursors`, parallel to
  // `mine`, say where to continue in each shard; if empty, all are read from the start. With the cursors of an earlier
  // stream with the same options, the stream is the rest of that one: the same examples in the same order, with the
  // same origins. Interleaved order begins with the shard of the lowest position, the lowest number first among equals.
  // Input before a cursor is skipped by a seek in a file (but for lists of features of a binary shard), and
  // decompressed and dropped if it is compressed. Throws Error(kUsage) for a bad interaction or n-gram, Error(kFailed)
  // if the system does not allow that many open files or if a cursor stands inside a pipe.
  ExampleStream(const std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine, ReadOptions options,
                const std::vector<Cursor>& cursors = {});
  ExampleStream(ExampleStream&&) noexcept;
  ExampleStream& operator=(ExampleStream&&) noexcept;
  ~ExampleStream();

  // Opens the shards that have a cursor at once, instead of when their first line is due. Skipping in a compressed
  // shard takes as long as decompressing it up to there, so `on_progress` is called after each piece of the file; its
  // exceptions leave this call. An error of a shard is reported when its line is due. In interleaved order only; before
  // the first read.
  void go_to_cursors(const std::function<void()>& on_progress);

  // An empty batch for read(), which scales as the options say.
  Batch make_batch() const;

  // Appends the example(s) of one line; false at the end of all shards. Under ReadOptions::every_line, returns for each
  // line, also without an example: for a blank or bad line or a header. A bad line throws Error(kBadData),
  //   "path:line:column: expected X, found 'text'",
  // or, in a part of a text after the first, "path: byte B: expected ..." with B counted from 0; or is skipped if the
  // options say so. Nothing of a bad line reaches the batch. These count as one bad line each: damage to a compressed
  // stream, which ends its shard; a damaged block of a binary shard; the rest of a binary shard that breaks off.
  // read() never returns for these three. A libsvm line without a label, where one is required, always counts as a bad
  // line that is skipped; only the first one is warned of.
  //
  // Whatever the options say, throws Error(kNoInput) if reading fails; Error(kBadData) for an unknown format, a binary
  // shard in parts whose index is damaged, a shard whose content ends before its cursor, and a file that is now shorter
  // than Shard::bytes (a longer one is read up to that size); Error(kUsage) for interactions in a format without
  // namespaces and for a binary shard that was converted with other options.
  bool read(Batch& batch);
  // The line that read() has returned for, under ReadOptions::every_line.
  const InputLine& line() const { return line_; }
  // The text of that line, or of the record of a table, until the next read(); empty for a binary shard.
  std::string_view text() const { return text_; }

  // The format of a stream of one shard, once a line was read.
  Format format() const { return format_; }

  // The shards of this stream and, parallel to them, cursors: where the stream began in each shard or, once the shard
  // has ended, its end.
  const std::vector<std::uint32_t>& mine() const { return mine_; }
  const std::vector<Cursor>& cursors() const { return cursors_; }

  // Number of bad lines skipped so far, including those before the cursors.
  std::uint64_t bad_lines() const { return bad_lines_; }
  // Messages about the bad lines since the last call, but only about the first kWarnings that bad_lines() counts.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }
  static constexpr std::uint64_t kWarnings = 20;

  // Sets a function that read() calls, on its thread, before it waits for a pipe. Its exceptions leave read(). To be
  // set before the first read.
  void on_input_idle(std::function<void()> call) { control_->on_input_idle = std::move(call); }
  // Makes a read() that waits for a pipe return or throw soon; nothing may be read afterwards. For other threads.
  void stop() { control_->stop.store(true, std::memory_order_relaxed); }
  // The part of the input that was read or skipped so far, in [0, 1]; negative if there is a pipe. For any thread.
  double part_read() const;

 private:
  struct ActiveShard;

  void go_to_lowest_position();
  bool open(ActiveShard& shard);
  bool open_text(ActiveShard& shard, std::unique_ptr<ByteSource> source);
  bool open_binary(ActiveShard& shard, std::unique_ptr<ByteSource> source);
  bool begin_part(ActiveShard& shard, std::uint64_t begin);
  template <class Reader, class... Hint>
  bool skip_to_cursor(Reader& reader, ActiveShard& shard, Hint... hints);
  bool read_from(ActiveShard& shard, Batch& batch);
  bool read_text(ActiveShard& shard, Batch& batch);
  bool read_binary(ActiveShard& shard, Batch& batch);
  bool pass_bad_line(ActiveShard& shard, std::uint64_t number, const ParseError& error);
  void pass_unlabelled_line(ActiveShard& shard, const UnlabelledLine& error);
  bool end_at_damage(ActiveShard& shard, const std::string& reason);
  bool parse(ActiveShard& shard, std::string_view line, Batch& batch);
  std::string_view whole_record(ActiveShard& shard, std::string_view line);
  void find_parser(ActiveShard& shard);
  [[noreturn]] static void refuse_header(const ActiveShard& shard, std::uint64_t number, const ParseError& error);
  void begin_table(ActiveShard& shard, std::uint64_t number, std::string_view first);
  LineParser& parser_for(const ActiveShard& shard, std::uint64_t number, std::string_view line);
  static std::string place(const ActiveShard& shard, std::uint64_t number, std::size_t column);
  std::string format_of(const ActiveShard& shard) const;
  void report_bad_line(ActiveShard& shard, std::uint64_t number, std::size_t column, const std::string& reason);

  std::unique_ptr<const ReadOptions> options_;  // at a fixed address: the parsers refer to it
  std::vector<std::uint32_t> mine_;
  std::vector<Cursor> cursors_;  // parallel to mine_
  std::vector<std::unique_ptr<ActiveShard>> active_;
  std::size_t turn_ = 0;                                   // index into active_ of the next shard
  std::map<Format, std::unique_ptr<LineParser>> parsers_;  // made when first needed
  std::shared_ptr<BlockScratch> block_scratch_;            // likewise
  std::size_t line_buffer_ = kLineBufferBytes;             // of each shard of text
  Format format_ = Format::kBinary;                        // that was found last
  SharedControl control_ = std::make_shared<ReadControl>();
  std::uint64_t bytes_ = 0;  // of the shards of this stream, as stored
  bool size_known_ = true;   // none of its shards is a pipe
  std::uint64_t bad_lines_ = 0;
  std::vector<std::string> warnings_;
  bool told_of_unlabelled_ = false;
  InputLine line_;
  std::string_view text_;
};

}  // namespace cpt
