#include "lines.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cpt/error.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/text/tokens.h"

namespace cpt {

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_examples(const Batch& batch, std::size_t first, bool labels_required) {
  for (std::size_t i = first; i < batch.size(); ++i) {
    const ExampleView x = batch[i];
    require(!labels_required || !x.label.empty());
    require(std::isfinite(x.importance) && x.importance >= 0);
    require(!x.features.empty() && x.features.size() == x.values.size());
    require(std::all_of(x.values.begin(), x.values.end(), [](float value) { return std::isfinite(value); }));
  }
}

void parse_all(LineParser& parser, std::string_view text, const ReadOptions& options) {
  Batch batch(options.normalize);
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // The parsers never get blank lines (data/parsers/line_parser.h).
    if (std::all_of(line.begin(), line.end(), is_blank)) continue;
    detect_format(line);
    const std::size_t before = batch.size();
    try {
      const bool holds_example = parser.parse(line, {0, number, number - 1, 0, 0}, batch);
      require(holds_example == (batch.size() > before));
      check_examples(batch, before, options.labels_required);
    } catch (const ParseError& parse_error) {
      batch.discard_example();
      require(parse_error.column() <= line.size() + 1 && *parse_error.what() != '\0');
    }
  }
}

}  // namespace

void fuzz_lines(Format format, std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const bool labels_required : {true, false}) {
    for (const MultiLabel multilabel :
         {MultiLabel::kFirst, MultiLabel::kSample, MultiLabel::kSplit, MultiLabel::kError}) {
      ReadOptions options;
      options.multilabel = multilabel;
      options.labels_required = labels_required;
      if (!labels_required) options.normalize = Normalize::kL2;
      if (format == Format::kJson) options.fields = {.importance = "i", .text = {"t", "o.t"}};
      if ((format == Format::kVw || format == Format::kJson) && !labels_required) options.interactions = {"ab", "aa"};
      parse_all(*make_line_parser(format, options), text, options);
    }
  }
}

void fuzz_table(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view header = text.substr(0, text.find('\n'));
  const std::string_view records = text.substr(std::min(header.size() + 1, text.size()));
  for (const bool labels_required : {true, false}) {
    ReadOptions options;
    options.labels_required = options.weights_required = labels_required;
    options.fields = {.importance = labels_required ? "i" : "", .ignored = {"g"}};
    if (!labels_required) options.interactions = {"ab", "aa"};
    if (!labels_required && header.find('t') != std::string_view::npos) options.fields.text = {"t"};
    try {
      parse_all(*make_csv_parser(header, options), records, options);
    } catch (const Error& error) {
      require(*error.what() != '\0');
    }
  }
}

}  // namespace cpt
