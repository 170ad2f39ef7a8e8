// Records of values that are separated by commas or tabs, as RFC 4180 describes them: a value in double quotes may hold
// separators, line breaks, and quotes, each written twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cpt {

struct CsvField {
  std::string_view text;   // without quotes; valid until the next split()
  std::string_view place;  // in the record, as it is written
};

// A tab if the first record of the file holds one in its first line; else a comma.
char csv_separator(std::string_view first);

// Whether a line ends within quotes, so that its record goes on in the next one. `within`: whether the line begins
// within quotes.
bool ends_within_quotes(std::string_view line, char separator, bool within);

class CsvRecord {
 public:
  explicit CsvRecord(char separator) : separator_(separator) {}

  // The fields of a record, at least one, until the next call. Throws ParseError for a field whose quotes do not close
  // or do not end it.
  const std::vector<CsvField>& split(std::string_view record);

 private:
  std::size_t add_plain(std::string_view record, std::size_t begin);
  std::size_t add_quoted(std::string_view record, std::size_t begin);

  char separator_;
  std::vector<CsvField> fields_;
  std::string decoded_;  // the texts of fields that contain quotes
};

}  // namespace cpt
