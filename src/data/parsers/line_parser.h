// Lines of text to examples: detection of the format, and one parser for each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cpt/example.h"
#include "data/format/read_options.h"

namespace cpt {

inline constexpr std::string_view kFasttextLabelPrefix = "__label__";

// "N F L", three unsigned integers: examples, features and labels of a file of the extreme classification repository.
bool is_xmc_header(std::string_view line);

// Whether the name of a file says that it is a table: it ends in .csv or .tsv, which .gz or .zst may follow.
bool is_table_name(std::string_view path);

// Detects the format by a shard's first line that is not blank: "__label__..." is fasttext, the beginning of an object
// is json, a '|' anywhere is vw, an optional label and then only index:... (at least one), or an XMC header, is libsvm.
// Nothing if it is none of them.
std::optional<Format> detect_format(std::string_view line);
// Whether the line may be text: it holds no zero byte.
bool is_text(std::string_view line);
// The message about a shard whose first line is not.
inline constexpr const char* kNoText =
    ": is not text: its first line holds a zero byte; if it is an archive, Parquet or UTF-16, make UTF-8 text of it "
    "first";
// The expectation in the message about a line whose format is not recognized.
inline constexpr std::string_view kLineExpected = "a line in vw, libsvm, fasttext or json format";
// Ends that message.
std::string advice_on_format(std::string_view line);

// Whether the line begins a JSON array, which may have several lines and is no format of lines.
bool is_json_array(std::string_view line);
inline constexpr const char* kOneObjectALine = "json is read as one object a line: jq -c '.[]' FILE makes such lines";

// Whether the line holds only blanks.
bool is_blank_line(std::string_view line);

// The name of a text format and a sample line, for the message about a malformed line.
std::string describe_format(Format format);

// Keeps scratch memory between lines, so it is not thread-safe; no line influences another.
class LineParser {
 public:
  virtual ~LineParser() = default;
  // Appends the examples of `line` (without its line end, not blank) and returns true; false if it holds none. Throws
  // ParseError; the batch then has no new example but perhaps open features, which the caller discards.
  virtual bool parse(std::string_view line, const Origin& origin, Batch& batch) = 0;
  // The tag of the line parsed last, even if that failed after the tag; points into the line.
  virtual std::string_view tag() const { return {}; }
};

// `format` is a text format. Throws Error(kUsage) for interactions in a format without namespaces, for n-grams that
// require_words() refuses, and for kCsv. The options must outlive the parser.
std::unique_ptr<LineParser> make_line_parser(Format format, const ReadOptions& options);

// "label [importance] ['tag]|ns[:scale] feature[:value] ... |ns2 ...". A '|' starts a namespace wherever it stands; its
// name follows directly, or is empty. The first ':' of a token separates name and value. A first token that begins with
// ' and is the only one before the bar is a tag; after an importance, so is any token that touches the bar.
std::unique_ptr<LineParser> make_vw_parser(const ReadOptions& options);

// "label index:value ..." and "l1,l2,... index:value ...". A line without a label, where one is required, throws
// UnlabelledLine. Line 1 may be an XMC header, which holds no example. An index is an unsigned integer of up to 64
// bits; its decimal text without leading zeros is the name of a feature of the empty namespace, so it equals the vw
// feature of that name.
std::unique_ptr<LineParser> make_libsvm_parser(const ReadOptions& options);

// "__label__NAME word word ...". Every token that starts with "__label__" is a label, wherever it stands; every other
// one is a feature of the empty namespace with value 1. Repeated words add up.
std::unique_ptr<LineParser> make_fasttext_parser(const ReadOptions& options);

// One JSON object a line. Throws Error(kUsage) if one key has two roles. What its keys give is in data/README.md.
std::unique_ptr<LineParser> make_json_parser(const ReadOptions& options);

// The records of a table, as CsvRecord splits them, without its header. What its columns give is in data/README.md.
// `first`: the first record of the table, which is its header unless ReadOptions::columns names the columns. Throws
// ParseError if the header breaks the format, Error(kUsage) if one column has two roles, if a column that the
// options name is missing, if it has none of ReadOptions::known_columns, or if ReadOptions::columns names one twice.
std::unique_ptr<LineParser> make_csv_parser(std::string_view first, const ReadOptions& options);

}  // namespace cpt
