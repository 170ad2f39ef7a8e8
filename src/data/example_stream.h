// Shards to examples.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "data/byte_source.h"
#include "data/line_parser.h"
#include "data/line_reader.h"
#include "data/read_options.h"
#include "data/shards.h"

namespace cpt {

// Reads some of the shards of a run once. For one thread at a time, except stop(). Shards are opened when their first
// line is due; in interleaved order all of them are then open together.
class ExampleStream {
 public:
  // `mine` are indices into `shards`, ascending: Origin::shard counts all shards of the run, whoever reads them.
  // Throws Error(kUsage) for a bad interaction, Error(kFailed) if so many files may not be open at a time.
  ExampleStream(const std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine, ReadOptions options);
  ExampleStream(ExampleStream&&) noexcept;
  ExampleStream& operator=(ExampleStream&&) noexcept;
  ~ExampleStream();

  // An empty batch that scales as the options say; read() takes such a one.
  Batch make_batch() const;

  // Appends the example(s) of one line; false at the end of all shards. Throws Error(kBadData),
  //   "path:line:column: expected X, found 'text'",
  // at a bad line, or skips it if the options say so: a compressed stream that is damaged then ends its shard and
  // counts as one bad line. Throws Error(kNoInput) where reading fails, Error(kBadData) where a format cannot be told,
  // and Error(kUsage) for interactions in a format without namespaces. Nothing of a bad line reaches the batch.
  bool read(Batch& batch);

  // Bad lines skipped so far.
  std::uint64_t error_lines() const { return error_lines_; }
  // In words, those of them that were not taken yet, but only the first kWarnings of the stream.
  std::vector<std::string> take_warnings();
  static constexpr std::uint64_t kWarnings = 20;

  // Makes a read() that waits for a pipe return soon, in whatever way; nothing may be read afterwards. For other
  // threads.
  void stop() { control_->stop.store(true, std::memory_order_relaxed); }
  // The part of its input that was read so far, in [0, 1]; negative if a pipe hides how much there is. For any thread.
  double part_read() const;

 private:
  struct Cursor;

  bool read_from(Cursor& cursor, Batch& batch);
  bool parse(Cursor& cursor, std::string_view line, Batch& batch);
  LineParser& parser_for(const Cursor& cursor, std::string_view line);
  std::string place(const Cursor& cursor, std::size_t column) const;
  void report_bad_line(const Cursor& cursor, std::size_t column, const std::string& reason);

  std::unique_ptr<const ReadOptions> options_;  // does not move: the parsers refer to it
  std::vector<std::unique_ptr<Cursor>> active_;
  std::size_t turn_ = 0;                                // index into active_: which shard is read next
  std::array<std::unique_ptr<LineParser>, 4> parsers_;  // by format, made when first needed
  SharedControl control_ = std::make_shared<ReadControl>();
  std::uint64_t all_bytes_ = 0;  // of all its shards
  bool size_known_ = true;       // none of them is a pipe
  std::uint64_t error_lines_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace cpt
