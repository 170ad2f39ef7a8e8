#include "data/pipeline/example_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/deferred_error.h"
#include "core/input_limits.h"
#include "core/ngram_options.h"
#include "cpt/error.h"
#include "data/binary/binary_index.h"
#include "data/binary/binary_reader.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/parsers/csv_record.h"
#include "data/parsers/line_parser.h"
#include "data/source/byte_source.h"
#include "data/source/compression.h"
#include "data/source/file_source.h"

namespace cpt {
namespace {

// The bytes of a file to read: its size when it was found.
std::optional<std::uint64_t> size_of(const Shard& shard) {
  return shard.regular ? std::optional(shard.bytes) : std::nullopt;
}

// Reads the record that begins with `line`. If it goes on in the next lines, it is put together in `record`.
std::string_view take_record(LineReader& lines, std::string_view line, char separator, std::string& record) {
  record.clear();
  bool within = ends_within_quotes(line, separator, false);
  if (!within) return line;
  record = line;
  while (within) {
    const LineReader::Status status = lines.next(line);
    if (status == LineReader::Status::kEnd) break;
    record.append("\n").append(line);
    if (status == LineReader::Status::kTooLong || record.size() > kMaxLineBytes) {
      reject(record, record, "a closing quote in a record of at most " + std::to_string(kMaxLineBytes) + " bytes");
    }
    within = ends_within_quotes(line, separator, true);
  }
  return record;
}

// Memory for the line buffers of all open shards together: up to a thousand shards have buffers of full size.
constexpr std::size_t kLineBuffersTogether = std::size_t{1} << 26;
constexpr std::size_t kLeastLineBuffer = std::size_t{1} << 12;

std::size_t line_buffer_of_each(std::uint64_t shards) {
  const auto share = static_cast<std::size_t>(kLineBuffersTogether / std::max<std::uint64_t>(shards, 1));
  return std::clamp(share, kLeastLineBuffer, kLineBufferBytes);
}

std::string reason_of(const DamagedBlock& damage) {
  const std::string lines = std::to_string(damage.lines()) + (damage.lines() == 1 ? " line" : " lines");
  return std::string(damage.what()) + "; " + lines + " in it cannot be read";
}

// By its byte order mark.
bool is_utf16(std::string_view beginning) {
  return beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff");
}

}  // namespace

std::uint64_t most_line_buffers(std::uint64_t shards) { return shards * line_buffer_of_each(shards); }

// A shard that has not ended.
struct ExampleStream::ActiveShard {
  std::size_t index;  // into mine_
  std::uint32_t number;
  Shard input;
  Cursor done;                             // while it is open, `lines` or `blocks` have the current line and bytes
  std::optional<LineReader> lines{};       // of a text shard; none before the first line
  LineParser* parser = nullptr;            // none before the first line that is not blank
  std::unique_ptr<BinaryReader> blocks{};  // of a binary shard; none before the first line
  // Of a table, which has a header, and so a parser, of its own:
  bool is_table = false;
  char separator = ',';                    // once there is a parser
  std::unique_ptr<LineParser> of_table{};  // owns what `parser` points to
  std::string record{};                    // the current one, if it has several lines

  // Of the current line or record.
  std::uint64_t first_line() const {
    return lines->number() - static_cast<std::uint64_t>(std::ranges::count(record, '\n'));
  }
};

ExampleStream::ExampleStream(const std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine,
                             ReadOptions options, const std::vector<Cursor>& cursors)
    : options_(std::make_unique<const ReadOptions>(std::move(options))),
      mine_(mine),
      cursors_(cursors.empty() ? std::vector<Cursor>(mine.size()) : cursors) {
  require_pairs(options_->interactions);
  parse_ngrams(options_->ngrams);
  if (options_->order == ShardOrder::kInterleaved) {
    allow_open_files(mine.size(), kIfTooManyShards);
    line_buffer_ = line_buffer_of_each(mine.size());
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Shard& shard = shards.at(mine[i]);
    const Cursor& cursor = cursors_.at(i);
    if (!shard.regular && cursor.bytes > 0) {
      throw Error(Fault::kFailed, input_name(shard.path) +
                                      ": a pipe can only be read from its beginning, not from byte " +
                                      std::to_string(cursor.bytes));
    }
    active_.push_back(
        std::make_unique<ActiveShard>(ActiveShard{.index = i, .number = mine[i], .input = shard, .done = cursor}));
    bytes_ += own_bytes(shard);
    size_known_ = size_known_ && shard.regular;
    bad_lines_ += cursor.bad_lines;
  }
  go_to_lowest_position();
}

ExampleStream::ExampleStream(ExampleStream&&) noexcept = default;
ExampleStream& ExampleStream::operator=(ExampleStream&&) noexcept = default;
ExampleStream::~ExampleStream() = default;

Batch ExampleStream::make_batch() const { return Batch(options_->normalize); }

bool ExampleStream::read(Batch& batch) {
  while (!active_.empty()) {
    if (turn_ == active_.size()) turn_ = 0;
    ActiveShard& shard = *active_[turn_];
    if (read_from(shard, batch)) {
      if (options_->order == ShardOrder::kInterleaved) ++turn_;
      return true;
    }
    cursors_[shard.index] = shard.done;
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(turn_));
    // Not simply the next shard: after a resume, the one that ended here may have been far behind all others.
    go_to_lowest_position();
  }
  return false;
}

void ExampleStream::go_to_lowest_position() {
  if (options_->order == ShardOrder::kSequential) return;
  const auto lowest = std::min_element(active_.begin(), active_.end(), [](const auto& a, const auto& b) {
    return a->done.position < b->done.position;  // the first among equals
  });
  turn_ = static_cast<std::size_t>(lowest - active_.begin());
}

void ExampleStream::go_to_cursors(const std::function<void()>& on_progress) {
  if (options_->order == ShardOrder::kSequential) return;
  DeferredError of_progress;  // an error of on_progress(), not of a shard
  control_->on_progress = [&] {
    of_progress.run([&] { on_progress(); });
    of_progress.rethrow();
  };
  for (const auto& shard : active_) {
    if (shard->done.bytes == 0 || of_progress) continue;
    try {
      if (open(*shard)) continue;
    } catch (...) {
    }
    shard->lines.reset();
    shard->blocks.reset();
  }
  control_->on_progress = {};
  of_progress.rethrow();
}

// Opens a shard at its cursor; false if it is known to have ended there.
bool ExampleStream::open(ActiveShard& shard) {
  auto source = std::make_unique<PeekedSource>(
      open_bytes(shard.input.path, control_, range_of(shard.input), size_of(shard.input)));
  const std::string_view beginning = source->peek(kBinaryMagicBytes, [](std::string_view begin) {
    return may_be_binary_shard(begin) || may_be_foreign_compression(begin);
  });
  const bool binary = is_binary_shard(beginning);
  const Format format = options_->format;
  const auto refuse = [&](const std::string& reason) {
    throw Error(Fault::kBadData, input_name(shard.input.path) + reason);
  };
  if (const std::string_view compression = foreign_compression(beginning); !compression.empty()) {
    refuse(": is compressed with " + std::string(compression) +
           ", which is not read: decompress it first, or into a pipe");
  }
  if (is_utf16(beginning)) refuse(": is UTF-16 text, which is not read: convert it to UTF-8 first (iconv -f UTF-16)");
  if (binary && format != Format::kAuto && format != Format::kBinary) {
    refuse(": expected text, found a binary shard; read it with --format binary");
  }
  if (!binary && format == Format::kBinary) refuse(": expected a binary shard, found text");
  return binary ? open_binary(shard, std::move(source)) : open_text(shard, std::move(source));
}

bool ExampleStream::open_text(ActiveShard& shard, std::unique_ptr<ByteSource> source) {
  const ByteRange range = range_of(shard.input);
  shard.is_table =
      options_->format == Format::kCsv ||
      (options_->format == Format::kAuto && (is_table_name(shard.input.path) || !options_->columns.empty()));
  LineReader& lines = shard.lines.emplace(std::move(source), line_buffer_);
  lines.end_at(range.end);
  if (shard.done.bytes == 0 && range.begin == 0) return true;
  if (shard.done.bytes == 0) {
    lines.begin_at(range.begin);
  } else if (!skip_to_cursor(lines, shard)) {
    return false;
  }
  find_parser(shard);
  return true;
}

bool ExampleStream::open_binary(ActiveShard& shard, std::unique_ptr<ByteSource> source) {
  format_ = Format::kBinary;
  if (!block_scratch_) block_scratch_ = std::make_shared<BlockScratch>();
  shard.blocks = std::make_unique<BinaryReader>(std::move(source), *options_, block_scratch_);
  try {
    shard.blocks->read_header();
  } catch (const Error& error) {
    if (control_->stop.load(std::memory_order_relaxed)) return false;
    throw Error(error.fault(), input_name(shard.input.path) + ": " + error.what());
  }
  const ByteRange range = range_of(shard.input);
  shard.blocks->end_at(range.end);
  if (shard.done.bytes != 0)
    return skip_to_cursor(*shard.blocks, shard, list_at(shard.input, shard.done.bytes, *options_));
  return range.begin == 0 || begin_part(shard, range.begin);
}

// Opens a part of a binary shard; false if no block begins in it.
bool ExampleStream::begin_part(ActiveShard& shard, std::uint64_t begin) {
  const auto read = [&] {
    try {
      return read_index(shard.input.path, *options_);
    } catch (const CorruptInput& damage) {
      throw Error(Fault::kBadData,
                  input_name(shard.input.path) + ": cannot be read in parts (--split): " + damage.what());
    }
  };
  const std::vector<IndexEntry> index = read();
  const auto first = std::ranges::lower_bound(index, begin, {}, &IndexEntry::offset);
  const std::uint64_t end = range_of(shard.input).end;
  if (first != index.end() && first->offset < end) {
    return shard.blocks->skip(first->offset, first->lines_before, first->list);
  }
  shard.blocks->skip(end, 0, end);  // so that its bytes count as read
  return false;
}

// Skips to the cursor; false if the shard ended there. `hints` are passed to Reader::skip.
template <class Reader, class... Hint>
bool ExampleStream::skip_to_cursor(Reader& reader, ActiveShard& shard, Hint... hints) {
  const std::uint64_t begin = shard.done.bytes;
  std::string damaged;
  try {
    if (reader.skip(begin, shard.done.line, hints...)) return true;
    if (control_->stop.load(std::memory_order_relaxed)) return false;
    // The cursor is after damage that was counted before. Only a compressed stream can be damaged text, and it throws.
    if (shard.blocks && reader.offset() + 1 == begin) return false;
  } catch (const CorruptInput& damage) {
    if (reader.offset() + 1 == begin) return false;
    damaged = std::string("; ") + damage.what();
  }
  throw Error(Fault::kBadData, input_name(shard.input.path) + ": expected at least " + std::to_string(begin) +
                                   " bytes of content, which were read before, found " +
                                   std::to_string(reader.offset()) + damaged);
}

// Appends the next line of a shard that read() returns for; false at its end.
bool ExampleStream::read_from(ActiveShard& shard, Batch& batch) {
  if (!shard.lines && !shard.blocks && !open(shard)) return false;
  const std::size_t examples = batch.size();
  const std::size_t features = batch.features();
  if (options_->every_line) line_ = {.shard = shard.number};
  text_ = {};
  const bool more = shard.blocks ? read_binary(shard, batch) : read_text(shard, batch);
  if (options_->every_line) line_.number = shard.blocks ? shard.blocks->number() : shard.first_line();
  if (batch.size() > examples) ++shard.done.position;
  shard.done.examples += batch.size() - examples;
  shard.done.features += batch.features() - features;
  return more;
}

bool ExampleStream::read_text(ActiveShard& shard, Batch& batch) {
  while (!control_->stop.load(std::memory_order_relaxed)) {
    try {
      std::string_view line;
      shard.record.clear();
      switch (shard.lines->next(line)) {
        case LineReader::Status::kEnd:
          shard.done.bytes = shard.lines->offset();
          shard.done.line = shard.lines->number();
          return false;
        case LineReader::Status::kTooLong:
          reject(line, line, "a line of at most " + std::to_string(kMaxLineBytes) + " bytes");
        case LineReader::Status::kLine:
          text_ = whole_record(shard, line);
          if (parse(shard, text_, batch) || options_->every_line) return true;
      }
    } catch (const UnlabelledLine& unlabelled) {
      batch.discard_example();
      pass_unlabelled_line(shard, unlabelled);
      if (options_->every_line) return true;
    } catch (const ParseError& parse_error) {
      batch.discard_example();
      if (pass_bad_line(shard, shard.first_line(), parse_error)) return true;
    } catch (const CorruptInput& damage) {
      report_bad_line(shard, shard.lines->number(), shard.lines->unfinished_bytes() + 1, damage.what());
      shard.done.bytes = shard.lines->offset() + shard.lines->unfinished_bytes() + 1;
      shard.done.line = shard.lines->number();
      return false;
    }
  }
  return false;
}

bool ExampleStream::read_binary(ActiveShard& shard, Batch& batch) {
  BinaryReader& blocks = *shard.blocks;
  while (!control_->stop.load(std::memory_order_relaxed)) {
    try {
      const Origin origin{shard.number, 0, shard.done.position, 0, shard.done.bad_lines};
      if (blocks.next(origin, batch)) return true;
      shard.done.bytes = blocks.offset();
      shard.done.line = blocks.number();
      return false;
    } catch (const ParseError& parse_error) {
      if (pass_bad_line(shard, blocks.number(), parse_error)) return true;
    } catch (const BrokenOffBlock& damage) {
      return end_at_damage(shard, reason_of(damage));
    } catch (const DamagedBlock& damage) {
      report_bad_line(shard, blocks.number(), 1, reason_of(damage));
    } catch (const CorruptInput& damage) {
      return end_at_damage(shard, damage.what());
    }
  }
  return false;
}

// Returns whether read() returns for the line. `number`: of the first line of its record.
bool ExampleStream::pass_bad_line(ActiveShard& shard, std::uint64_t number, const ParseError& error) {
  if (shard.is_table && shard.parser == nullptr && options_->columns.empty()) refuse_header(shard, number, error);
  const std::string reason = error.what();
  std::size_t column = error.column();
  if (!shard.record.empty()) {
    const std::string_view before = std::string_view(shard.record).substr(0, column - 1);
    number += static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
    column -= before.rfind('\n') + 1;  // npos + 1 is 0
  }
  if (options_->answer_bad_lines) {
    line_.error = place(shard, number, column) + reason;
  } else {
    report_bad_line(shard, number, column, options_->skip_bad_lines ? reason : reason + format_of(shard));
  }
  return options_->every_line;
}

void ExampleStream::pass_unlabelled_line(ActiveShard& shard, const UnlabelledLine& error) {
  ++shard.done.bad_lines;
  ++bad_lines_;
  if (std::exchange(told_of_unlabelled_, true)) return;
  warnings_.push_back("skipped: " + place(shard, shard.lines->number(), error.column()) + error.what() +
                      "; further lines without a label are skipped and counted, but not listed");
}

// Ends a binary shard. After a stop, the reader may see an end anywhere, which is no damage.
bool ExampleStream::end_at_damage(ActiveShard& shard, const std::string& reason) {
  if (control_->stop.load(std::memory_order_relaxed)) return false;
  report_bad_line(shard, shard.blocks->number(), 1, reason);
  shard.done.bytes = shard.blocks->drain() + 1;
  shard.done.line = shard.blocks->number();
  return false;
}

// Returns the whole record that begins with `line`: in a table, a field may hold line breaks.
std::string_view ExampleStream::whole_record(ActiveShard& shard, std::string_view line) {
  if (!shard.is_table) return line;
  if (shard.parser == nullptr && !options_->columns.empty() && !is_blank_line(line)) {
    begin_table(shard, shard.lines->number(), line);
  }
  const char separator = shard.parser == nullptr ? csv_separator(line) : shard.separator;
  // Parts begin after any line end, even one within quotes.
  if (shard.input.part.count > 1 && ends_within_quotes(line, separator, false)) {
    reject(line, line, "no line break within a field of a file that is read in parts (--split)");
  }
  return take_record(*shard.lines, line, separator, shard.record);
}

bool ExampleStream::parse(ActiveShard& shard, std::string_view line, Batch& batch) {
  if (is_blank_line(line)) return false;
  const LineReader& lines = *shard.lines;
  if (shard.parser == nullptr && shard.is_table) {
    begin_table(shard, shard.first_line(), line);
    return false;
  }
  if (shard.parser == nullptr) shard.parser = &parser_for(shard, lines.number(), line);
  const Origin origin{shard.number, lines.number(), shard.done.position, lines.offset(), shard.done.bad_lines};
  if (!options_->every_line) return shard.parser->parse(line, origin, batch);
  try {
    const bool holds_example = shard.parser->parse(line, origin, batch);
    line_.tag = shard.parser->tag();
    return holds_example;
  } catch (const ParseError&) {
    line_.tag = shard.parser->tag();
    throw;
  }
}

// Finds the parser that a reader from the start would have chosen; none if no line has decided yet.
void ExampleStream::find_parser(ActiveShard& shard) {
  if (options_->format != Format::kAuto && !shard.is_table) return;
  LineReader lines(open_bytes(shard.input.path, nullptr, {}, size_of(shard.input)));
  std::string_view line;
  for (auto status = lines.next(line); status != LineReader::Status::kEnd; status = lines.next(line)) {
    if (status != LineReader::Status::kLine || is_blank_line(line)) continue;
    if (shard.is_table) {
      std::string record;
      const std::uint64_t number = lines.number();
      try {
        if (options_->columns.empty()) line = take_record(lines, line, csv_separator(line), record);
      } catch (const ParseError& error) {
        refuse_header(shard, number, error);
      }
      return begin_table(shard, number, line);
    }
    shard.parser = &parser_for(shard, lines.number(), line);
    return;
  }
}

// A header that cannot be read is an error even if bad lines are skipped: without it, no line can be read.
void ExampleStream::refuse_header(const ActiveShard& shard, std::uint64_t number, const ParseError& error) {
  throw Error(Fault::kBadData, place(shard, number, error.column()) + error.what());
}

// `first`: the header; of a table without one, the first line that is not blank.
void ExampleStream::begin_table(ActiveShard& shard, std::uint64_t number, std::string_view first) {
  try {
    shard.of_table = make_csv_parser(first, *options_);
  } catch (const ParseError& error) {
    refuse_header(shard, number, error);
  } catch (const Error& error) {
    throw Error(error.fault(), input_name(shard.input.path) + ": " + error.what());
  }
  shard.separator = csv_separator(first);
  shard.parser = shard.of_table.get();
  format_ = Format::kCsv;
}

LineParser& ExampleStream::parser_for(const ActiveShard& shard, std::uint64_t number, std::string_view line) {
  Format format = options_->format;
  if (format == Format::kAuto) {
    const Format fallback = options_->fallback_format;
    if (fallback == Format::kAuto && !is_text(line))
      throw Error(Fault::kBadData, input_name(shard.input.path) + kNoText);
    const std::optional<Format> detected = detect_format(line);
    if (!detected && fallback == Format::kAuto) {
      throw Error(Fault::kBadData, input_name(shard.input.path) + ":" + std::to_string(number) + ":1: expected " +
                                       std::string(kLineExpected) + ", found " + quote(line) + advice_on_format(line) +
                                       options_->format_advice);
    }
    format = detected.value_or(fallback);
  }
  format_ = format;
  auto& parser = parsers_[format];
  if (!parser) parser = make_line_parser(format, *options_);
  return *parser;
}

// A later part of a text does not know its line numbers, so it gives the byte.
std::string ExampleStream::place(const ActiveShard& shard, std::uint64_t number, std::size_t column) {
  const std::string name = input_name(shard.input.path);
  if (shard.lines && shard.input.part.index > 0) {
    return name + ": byte " + std::to_string(shard.lines->line_begin() + column - 1) + ": ";
  }
  return name + ":" + std::to_string(number) + ":" + std::to_string(column) + ": ";
}

// Ends the message about a bad line with the format that was assumed; empty if the shard has no parser, and for json,
// which no other format looks like.
std::string ExampleStream::format_of(const ActiveShard& shard) const {
  if (shard.is_table) return "; the line was read as " + describe_format(Format::kCsv);
  const auto used = std::ranges::find_if(parsers_, [&](const auto& of) { return of.second.get() == shard.parser; });
  if (used == parsers_.end() || used->first == Format::kJson) return "";
  return "; the line was read as " + describe_format(used->first) + "; --format chooses another format";
}

void ExampleStream::report_bad_line(ActiveShard& shard, std::uint64_t number, std::size_t column,
                                    const std::string& reason) {
  if (!options_->skip_bad_lines) throw Error(Fault::kBadData, place(shard, number, column) + reason);
  ++shard.done.bad_lines;
  if (++bad_lines_ > kWarnings) return;
  warnings_.push_back("skipped: " + place(shard, number, column) + reason);
}

double ExampleStream::part_read() const {
  if (!size_known_) return -1;
  if (bytes_ == 0) return 1;
  const std::uint64_t read = control_->bytes_read.load(std::memory_order_relaxed);
  return std::min(1.0, static_cast<double>(read) / static_cast<double>(bytes_));
}

}  // namespace cpt
