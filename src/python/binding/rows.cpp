#include "python/binding/rows.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/number_text.h"

namespace cpt::python {

namespace {

constexpr std::size_t kMostDigits = std::numeric_limits<std::int64_t>::digits10 + 1;  // of a column

void begin_columns(std::size_t most, Scratch& scratch) {
  scratch.columns.clear();
  scratch.digits.resize(kMostDigits * most);
}

void add_column(std::int64_t column, double value, Scratch& scratch) {
  char* const name = scratch.digits.data() + kMostDigits * scratch.columns.size();
  const char* const end = std::to_chars(name, name + kMostDigits, column).ptr;
  scratch.columns.push_back({{}, {name, static_cast<std::size_t>(end - name)}, value, false});
}

}  // namespace

void Rows::append(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const {
  try {
    read(row, note, scratch, batch);
  } catch (const BadExample& error) {
    throw BadRow(row, error.column(), error.what());
  } catch (const py::type_error& error) {
    throw py::type_error("row " + std::to_string(row) + ": " + error.what());
  }
}

void ObjectRows::read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const {
  append_object(objects_[row], note, scratch, batch);
}

CsrRows::CsrRows(Indices row_ends, Indices columns, Numbers values)
    : row_ends_(std::move(row_ends)), columns_(std::move(columns)), values_(std::move(values)), rows_(0) {
  if (row_ends_.ndim() != 1 || row_ends_.size() == 0 || columns_.ndim() != 1 || values_.ndim() != 1 ||
      columns_.size() != values_.size()) {
    throw py::value_error("expected a CSR matrix: row ends, and as many columns as values");
  }
  rows_ = static_cast<std::size_t>(row_ends_.size()) - 1;
}

void CsrRows::read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const {
  const std::string_view label = note.label.value_or("");
  check_label(label, note);
  const std::int64_t begin = row_ends_.data()[row];
  const std::int64_t end = row_ends_.data()[row + 1];
  // Checked for each row, because code that shares the arrays may have changed them.
  if (begin < 0 || begin > end || end > columns_.size()) throw BadExample(0, "the row ends are those of no CSR matrix");
  begin_columns(static_cast<std::size_t>(end - begin), scratch);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t column = columns_.data()[i];
    if (column < 0) throw BadExample(0, "expected a column from 0 on, found " + std::to_string(column));
    add_column(column, values_.data()[i], scratch);
  }
  scratch.reader.add(scratch.columns, label, note.importance.value_or(1), batch);
}

DenseRows::DenseRows(Numbers values) : values_(std::move(values)) {
  if (values_.ndim() != 2) throw py::value_error("expected an array of two dimensions");
}

void DenseRows::read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const {
  const std::string_view label = note.label.value_or("");
  check_label(label, note);
  const auto columns = static_cast<std::size_t>(values_.shape(1));
  const double* const values = values_.data() + row * columns;
  begin_columns(columns, scratch);
  for (std::size_t column = 0; column < columns; ++column) {
    const double value = values[column];
    if (value != 0) add_column(static_cast<std::int64_t>(column), value, scratch);
  }
  scratch.reader.add(scratch.columns, label, note.importance.value_or(1), batch);
}

TableRows::TableRows(const std::vector<std::string>& names, const py::list& columns, std::size_t rows) : rows_(rows) {
  if (names.size() != columns.size()) throw py::value_error("expected as many names as columns");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const py::handle values = columns[i];
    Column column{names[i], CsrRows::Numbers(), py::tuple(), !PyList_Check(values.ptr())};
    if (column.is_numeric) {
      column.numbers = py::cast<CsrRows::Numbers>(values);
    } else {
      column.objects = py::tuple(py::reinterpret_borrow<py::list>(values));
    }
    const bool is_long = column.is_numeric ? column.numbers.ndim() == 1 && column.numbers.shape(0) >= 0 &&
                                                 static_cast<std::size_t>(column.numbers.shape(0)) == rows
                                           : column.objects.size() == rows;
    if (!is_long) throw py::value_error("expected a value of column '" + names[i] + "' for every row");
    columns_.push_back(std::move(column));
  }
}

void TableRows::read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const {
  scratch.features.clear();
  for (const Column& column : columns_) {
    if (!column.is_numeric) {
      scratch.features.add_cell(column.name, column.objects[row]);
    } else if (const double number = column.numbers.data()[row]; !std::isnan(number)) {
      scratch.features.add_number(column.name, number);
    }
  }
  append_features(note, scratch, batch);
}

}  // namespace cpt::python
