// Many examples at a time: a list of objects, a CSR matrix, an array, or the columns of a table.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "python/binding/features.h"

namespace cpt::python {

// No example can be made of a row.
class BadRow : public BadExample {
 public:
  BadRow(std::size_t row, std::size_t column, const std::string& reason) : BadExample(column, reason), row_(row) {}
  std::size_t row() const { return row_; }  // from 0

 private:
  std::size_t row_;
};

class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  virtual ~Rows() = default;
  virtual std::size_t size() const = 0;
  // Whether the caller of append() must hold the interpreter's lock. If not, several threads may call it.
  virtual bool needs_python() const { return true; }
  // Appends the example of a row. Throws BadRow, or a Python exception, and then the batch is as it was.
  void append(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const;

 private:
  virtual void read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const = 0;
};

class ObjectRows : public Rows {
 public:
  explicit ObjectRows(const py::list& objects) : objects_(py::tuple(objects)) {}
  std::size_t size() const override { return objects_.size(); }

 private:
  void read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const override;

  py::tuple objects_;  // a copy of the list, which the caller cannot change
};

// Column c is the feature c of libsvm lines: its name is the number, in the unnamed namespace.
class CsrRows : public Rows {
 public:
  using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;
  using Indices = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

  // Throws ValueError unless the three make a matrix.
  CsrRows(Indices row_ends, Indices columns, Numbers values);
  std::size_t size() const override { return rows_; }
  bool needs_python() const override { return false; }

 private:
  void read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const override;

  Indices row_ends_;  // with 0 before the first
  Indices columns_;
  Numbers values_;
  std::size_t rows_;
};

// The rows of a CSR matrix without zeros, read from an array.
class DenseRows : public Rows {
 public:
  using Numbers = CsrRows::Numbers;

  // Throws ValueError unless there are two dimensions.
  explicit DenseRows(Numbers values);
  std::size_t size() const override { return static_cast<std::size_t>(values_.shape(0)); }
  bool needs_python() const override { return false; }

 private:
  void read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const override;

  Numbers values_;
};

// Each column is a namespace of its name, as in CSV.
class TableRows : public Rows {
 public:
  // Each column is an array of numbers, where NaN is no feature, or a list of objects. Throws ValueError unless all
  // have this many rows.
  TableRows(const std::vector<std::string>& names, const py::list& columns, std::size_t rows);
  std::size_t size() const override { return rows_; }

 private:
  struct Column {
    std::string name;
    CsrRows::Numbers numbers;
    py::tuple objects;
    bool is_numeric;
  };
  void read(std::size_t row, const Annotation& note, Scratch& scratch, Batch& batch) const override;

  std::vector<Column> columns_;
  std::size_t rows_;
};

}  // namespace cpt::python
