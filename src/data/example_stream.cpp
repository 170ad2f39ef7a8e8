#include "data/example_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cpt/error.h"
#include "data/byte_source.h"
#include "data/format.h"
#include "data/interactions.h"
#include "data/limits.h"
#include "data/open_files.h"
#include "data/rejection.h"
#include "data/tokens.h"

namespace cpt {

// How far a shard is read.
struct ExampleStream::Cursor {
  std::uint32_t shard;
  std::string path;
  std::optional<LineReader> lines;  // none before the first line
  LineParser* parser = nullptr;     // none before the first line that is not blank
  std::uint64_t position = 0;       // lines with examples so far
};

ExampleStream::ExampleStream(const std::vector<Shard>& shards, const std::vector<std::uint32_t>& mine,
                             ReadOptions options)
    : options_(std::make_unique<const ReadOptions>(std::move(options))) {
  Interactions::check(options_->interactions);
  if (options_->order == ShardOrder::kInterleaved) allow_open_files(mine.size());
  for (const std::uint32_t shard : mine) {
    active_.push_back(std::make_unique<Cursor>(Cursor{shard, shards.at(shard).path, std::nullopt, nullptr, 0}));
    all_bytes_ += shards[shard].bytes;
    size_known_ = size_known_ && shards[shard].regular;
  }
}

ExampleStream::ExampleStream(ExampleStream&&) noexcept = default;
ExampleStream& ExampleStream::operator=(ExampleStream&&) noexcept = default;
ExampleStream::~ExampleStream() = default;

Batch ExampleStream::make_batch() const { return Batch(options_->normalize); }

bool ExampleStream::read(Batch& batch) {
  while (!active_.empty()) {
    if (turn_ == active_.size()) turn_ = 0;
    if (read_from(*active_[turn_], batch)) {
      if (options_->order == ShardOrder::kInterleaved) ++turn_;
      return true;
    }
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  return false;
}

// The next line of a shard that holds an example; false at its end.
bool ExampleStream::read_from(Cursor& cursor, Batch& batch) {
  if (!cursor.lines) cursor.lines.emplace(open_bytes(cursor.path, control_));
  while (!control_->stop.load(std::memory_order_relaxed)) {
    try {
      std::string_view line;
      switch (cursor.lines->next(line)) {
        case LineReader::Status::kEnd:
          return false;
        case LineReader::Status::kTooLong:
          reject(line, line, "a line of at most " + std::to_string(kMaxLineBytes) + " bytes");
        case LineReader::Status::kLine:
          if (parse(cursor, line, batch)) return true;
      }
    } catch (const Rejection& rejection) {
      batch.discard_example();
      report_bad_line(cursor, rejection.column(), rejection.what());
    } catch (const DamagedStream& damage) {
      report_bad_line(cursor, cursor.lines->unfinished_bytes() + 1, damage.what());
      return false;
    }
  }
  return false;
}

bool ExampleStream::parse(Cursor& cursor, std::string_view line, Batch& batch) {
  if (std::all_of(line.begin(), line.end(), is_blank)) return false;
  if (cursor.parser == nullptr) cursor.parser = &parser_for(cursor, line);
  if (!cursor.parser->parse(line, {cursor.shard, cursor.lines->number(), cursor.position}, batch)) return false;
  ++cursor.position;
  return true;
}

LineParser& ExampleStream::parser_for(const Cursor& cursor, std::string_view line) {
  Format format = options_->format;
  if (format == Format::kAuto) {
    const std::optional<Format> detected = detect_format(line);
    if (!detected) {
      throw Error(Fault::kBadData, place(cursor, 1) + "expected a line in vw, libsvm or fasttext format, found " +
                                       quote(line) + "; name the format with --format");
    }
    format = *detected;
  }
  auto& parser = parsers_.at(static_cast<std::size_t>(format));
  if (!parser) parser = make_line_parser(format, *options_);
  return *parser;
}

std::string ExampleStream::place(const Cursor& cursor, std::size_t column) const {
  return input_name(cursor.path) + ":" + std::to_string(cursor.lines->number()) + ":" + std::to_string(column) + ": ";
}

void ExampleStream::report_bad_line(const Cursor& cursor, std::size_t column, const std::string& reason) {
  const std::string text = place(cursor, column) + reason;
  if (!options_->skip_bad_lines) throw Error(Fault::kBadData, text);
  if (++error_lines_ <= kWarnings) warnings_.push_back(text);
}

double ExampleStream::part_read() const {
  if (!size_known_) return -1;
  if (all_bytes_ == 0) return 1;
  const std::uint64_t read = control_->bytes_read.load(std::memory_order_relaxed);
  return std::min(1.0, static_cast<double>(read) / static_cast<double>(all_bytes_));
}

std::vector<std::string> ExampleStream::take_warnings() { return std::exchange(warnings_, {}); }

}  // namespace cpt
