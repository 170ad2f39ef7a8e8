#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/hashing/name_hash.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/csv_record.h"
#include "data/parsers/line_parser.h"
#include "data/parsers/roles_by_name.h"
#include "data/text/interactions.h"
#include "data/text/label_choice.h"
#include "data/text/ngrams.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

constexpr std::size_t kNamesShown = 20;
constexpr const char* kColumnsAdvice = "; --columns names those of a file without a header";

// Completes the message about a line that has one value, if others seem to be separated in another way.
std::string advice_on_separator(std::string_view line) {
  const std::size_t found = line.find_first_of(";|");
  if (found == std::string_view::npos) return "";
  return "; values are separated by commas or tabs, not by " + quote(line.substr(found, 1));
}

class CsvParser : public LineParser {
 public:
  CsvParser(std::string_view first, const ReadOptions& options);
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  struct Column {
    std::string name;
    FieldRole role = FieldRole::kOther;
    std::uint64_t name_space = 0;
    FeatureHash number = 0;  // the feature of a number in this column
  };

  bool add_column(const std::string& name, const RolesByName& roles, const FeatureHasher& hasher);
  void require_columns() const;
  void require_column(const std::string& name, const std::string& option) const;
  std::string names() const;
  void read(const Column& column, const CsvField& field, Batch& batch);
  void read_label(const CsvField& field);
  void read_importance(const CsvField& field);
  void read_category(const Column& column, std::string_view text, Batch& batch);
  void read_words(const Column& column, std::string_view text, Batch& batch);
  void add(const Column& column, FeatureHash feature, std::string_view name, double value, Batch& batch);

  const ReadOptions& options_;
  Interactions interactions_;
  Ngrams ngrams_;
  LabelChoice label_choice_;
  CsvRecord record_;
  std::vector<Column> columns_;
  std::string_view line_;
  std::string pair_;               // "column=value"
  std::deque<std::string> names_;  // of features, for interactions; only under ReadOptions::on_feature
  std::optional<CsvField> label_;
  float importance_ = 1;
};

// The first record is the header, unless the options name the columns.
CsvParser::CsvParser(std::string_view first, const ReadOptions& options)
    : options_(options),
      interactions_(options),
      ngrams_(options),
      label_choice_(options),
      record_(csv_separator(first)) {
  require_words(Format::kCsv, options);
  const RolesByName roles(options.fields);
  const FeatureHasher hasher(options.seed);
  for (const std::string& name : options.columns) {
    if (!add_column(name, roles, hasher)) throw Error(Fault::kUsage, "--columns names " + quote(name) + " twice");
  }
  if (options.columns.empty()) {
    for (const CsvField& field : record_.split(first)) {
      if (!add_column(std::string(field.text), roles, hasher)) {
        throw ParseError(static_cast<std::size_t>(field.place.data() - first.data()) + 1,
                         "a column with a name of its own", quote(field.place) + kColumnsAdvice);
      }
    }
  }
  require_columns();
}

// False if another column has this name. A column without a name is ignored.
bool CsvParser::add_column(const std::string& name, const RolesByName& roles, const FeatureHasher& hasher) {
  if (name.empty()) {
    columns_.push_back({name, FieldRole::kIgnored});
    return true;
  }
  if (std::ranges::find(columns_, name, &Column::name) != columns_.end()) return false;
  const std::uint64_t name_space = hasher.name_space(name);
  columns_.push_back({name, roles.of(name), name_space, hash_name(name, name_space)});
  if (columns_.back().role != FieldRole::kOther && options_.on_named_key) options_.on_named_key(name);
  return true;
}

// Columns to ignore may be missing, and so may those that only training needs where labels are not required.
void CsvParser::require_columns() const {
  const FieldRoles& roles = options_.fields;
  const std::string advice = options_.columns.empty() ? kColumnsAdvice : "";
  if (options_.labels_required) {
    require_column(roles.label, "choose another with --label-column" + advice);
    if (!roles.importance.empty()) require_column(roles.importance, "--importance-column");
  }
  for (const std::string& name : roles.text) require_column(name, "--text-columns");
  for (const std::string& name : roles.categorical) require_column(name, "--categorical-columns");
  const auto& known = options_.known_columns;
  const auto is_known = [&](const Column& column) { return std::ranges::find(known, column.name) != known.end(); };
  if (known.empty() || std::ranges::any_of(columns_, is_known)) return;
  throw Error(Fault::kUsage, "expected columns from which the model has learned, such as " + quote(known.front()) +
                                 ", found the columns " + names() + advice);
}

void CsvParser::require_column(const std::string& name, const std::string& option) const {
  if (std::ranges::find(columns_, name, &Column::name) != columns_.end()) return;
  throw Error(Fault::kUsage, "expected the column " + quote(name) + " (" + option + "), found the columns " + names() +
                                 (columns_.size() == 1 ? advice_on_separator(columns_.front().name) : ""));
}

std::string CsvParser::names() const {
  std::string text;
  for (std::size_t i = 0; i < std::min(columns_.size(), kNamesShown); ++i) {
    text += (i == 0 ? "" : ", ") + quote(columns_[i].name);
  }
  if (columns_.size() > kNamesShown) text += " and " + std::to_string(columns_.size() - kNamesShown) + " more";
  return text;
}

bool CsvParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  line_ = line;
  label_.reset();
  names_.clear();
  importance_ = 1;
  interactions_.begin_line();
  ngrams_.begin_line();
  const std::vector<CsvField>& fields = record_.split(line);
  if (fields.size() != columns_.size()) {
    const std::size_t column = fields.size() < columns_.size()
                                   ? line.size() + 1
                                   : static_cast<std::size_t>(fields[columns_.size()].place.data() - line.data()) + 1;
    throw ParseError(column,
                     std::to_string(columns_.size()) +
                         (options_.columns.empty() ? " fields, as in the header" : " fields, which --columns names"),
                     std::to_string(fields.size()) + (fields.size() == 1 ? advice_on_separator(line) : ""));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) read(columns_[i], fields[i], batch);
  if (!label_ && options_.labels_required) {
    throw ParseError(1, "a label in the column " + quote(options_.fields.label), "none");
  }
  if (importance_ == 0 && options_.weights_required) {
    batch.discard_example();
    return false;
  }
  if (!interactions_.none()) interactions_.add_crosses(batch);
  LabelList labels{{}, {}, importance_};
  if (label_) labels = {{&label_->text, 1}, {&label_->place, 1}, importance_};
  return label_choice_.finish(line, labels, origin, batch);
}

void CsvParser::read(const Column& column, const CsvField& field, Batch& batch) {
  if (field.text.empty() || column.role == FieldRole::kIgnored) return;
  if (column.role == FieldRole::kLabel) return read_label(field);
  if (column.role == FieldRole::kImportance) return read_importance(field);
  if (!interactions_.none()) interactions_.begin_name_space(column.name, batch);
  if (column.role == FieldRole::kText) return read_words(column, field.text, batch);
  const double number = column.role == FieldRole::kOther ? number_or_nan(field.text) : NAN;
  if (std::isnan(number)) return read_category(column, field.text, batch);
  add(column, column.number, column.name, number, batch);
}

void CsvParser::read_label(const CsvField& field) {
  if (has_control_character(field.text)) reject(line_, field.place, kPrintableLabelExpected);
  label_ = field;
}

void CsvParser::read_importance(const CsvField& field) {
  const double importance = number_or_nan(field.text);
  if (!(importance >= 0 && importance <= kMaxImportance)) reject(line_, field.place, kImportanceExpected);
  importance_ = static_cast<float>(importance);
}

void CsvParser::read_category(const Column& column, std::string_view text, Batch& batch) {
  pair_.assign(column.name).append("=").append(text);
  add(column, hash_name(pair_, column.name_space), pair_, 1, batch);
}

void CsvParser::read_words(const Column& column, std::string_view text, Batch& batch) {
  if (!ngrams_.none()) ngrams_.begin_name_space(column.name, column.name_space, 1, true);
  for_each_word(text, [&](std::string_view word) {
    add(column, hash_name(word, column.name_space), word, 1, batch);
    if (ngrams_.collects()) ngrams_.add_word(word);
  });
  if (ngrams_.collects()) ngrams_.end_name_space(batch, &interactions_);
}

void CsvParser::add(const Column& column, FeatureHash feature, std::string_view name, double value, Batch& batch) {
  batch.add_feature(feature, static_cast<float>(value));
  if (!options_.on_feature) return;
  options_.on_feature(feature, column.name, name);
  interactions_.add_name(names_.emplace_back(name));
}

}  // namespace

std::unique_ptr<LineParser> make_csv_parser(std::string_view first, const ReadOptions& options) {
  return std::make_unique<CsvParser>(first, options);
}

}  // namespace cpt
