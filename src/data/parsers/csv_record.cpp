#include "data/parsers/csv_record.h"

#include <algorithm>

#include "data/format/parse_error.h"

namespace cpt {

namespace {

constexpr auto kNowhere = std::string_view::npos;

// The quote that closes a field, searched from a position within the field; kNowhere if there is none.
std::size_t closing_quote(std::string_view text, std::size_t from) {
  for (;;) {
    const std::size_t quote = text.find('"', from);
    if (quote == kNowhere || quote + 1 == text.size() || text[quote + 1] != '"') return quote;
    from = quote + 2;
  }
}

}  // namespace

char csv_separator(std::string_view first) {
  return first.substr(0, first.find('\n')).find('\t') == kNowhere ? ',' : '\t';
}

bool ends_within_quotes(std::string_view line, char separator, bool within) {
  if (line.find('"') == kNowhere) return within;
  for (std::size_t at = 0;;) {
    if (within || (at < line.size() && line[at] == '"')) {
      at = closing_quote(line, within ? at : at + 1);
      if (at == kNowhere) return true;
      within = false;
    }
    at = line.find(separator, at);
    if (at == kNowhere) return false;
    ++at;
  }
}

const std::vector<CsvField>& CsvRecord::split(std::string_view record) {
  fields_.clear();
  decoded_.clear();
  decoded_.reserve(record.size());  // fields refer to it, so it must not move
  for (std::size_t begin = 0;; ++begin) {
    const bool is_quoted = begin < record.size() && record[begin] == '"';
    begin = is_quoted ? add_quoted(record, begin) : add_plain(record, begin);
    if (begin == record.size()) return fields_;
  }
}

// These two return the end of the field: a separator, or the end of the record.
std::size_t CsvRecord::add_plain(std::string_view record, std::size_t begin) {
  const std::size_t end = std::min(record.find(separator_, begin), record.size());
  const std::string_view field = record.substr(begin, end - begin);
  fields_.push_back({field, field});
  return end;
}

std::size_t CsvRecord::add_quoted(std::string_view record, std::size_t begin) {
  const std::size_t closing = closing_quote(record, begin + 1);
  if (closing == kNowhere) reject(record, record.substr(begin), "a field with a closing quote");
  const std::size_t end = closing + 1;
  if (end < record.size() && record[end] != separator_) {
    reject(record, record.substr(end, 1), "the end of a field after its closing quote");
  }
  std::string_view text = record.substr(begin + 1, closing - begin - 1);
  if (text.find('"') != kNowhere) {
    const std::size_t first = decoded_.size();
    for (std::size_t i = 0; i < text.size(); i += text[i] == '"' ? 2U : 1U) decoded_ += text[i];
    text = std::string_view(decoded_).substr(first);
  }
  fields_.push_back({text, record.substr(begin, end - begin)});
  return end;
}

}  // namespace cpt
