// From Python objects to the features of an example: a dict, a list of tokens, or a line of text.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "cpt/model.h"
#include "cpt/reader.h"
#include "data/parsers/roles_by_name.h"

namespace cpt::python {

namespace py = pybind11;

// The label and importance given beside x. Where empty, those in x count, or else no label and 1.
struct Annotation {
  std::optional<std::string_view> label{};
  std::optional<double> importance{};
  bool label_required = false;
};

// Throws BadExample if a label is required and this one is empty.
void check_label(std::string_view label, const Annotation& note);

// The text of a label: a str as it is, an int in decimal, a bool as in JSON. Throws TypeError for anything else.
std::string label_text(py::handle label);
// Throws TypeError for anything but a number.
double importance_of(py::handle importance);
// Bytes that are no UTF-8 become lone surrogates, as Python does for file names; label_text() turns them back.
py::str label_object(std::string_view text);

// Copies the texts, so that no Python object must live on. Keeps its memory from example to example. The model's
// options for keys and columns (label, importance, text, categorical, ignored) apply as in JSON and CSV.
class FeatureList {
 public:
  explicit FeatureList(const FieldRoles& fields) : roles_(fields) {}

  void clear();
  // Scalars belong to the namespace `path`, as they do in a JSON object; those of the outermost to the unnamed one.
  void add_dict(py::handle dict, const std::string& path = "", std::size_t depth = 1);
  // A list of tokens, each a feature of value 1; None and NaN are left out.
  void add_bag(const std::string& name_space, py::handle bag);
  // A cell of a table: as add_dict() does with a key, but a number or text belongs to the namespace of its column.
  void add_cell(const std::string& column, py::handle value);
  void add(std::string_view name_space, std::string_view name, double value, bool is_word = false);
  // The same as add_cell(), for a value of a column of numbers.
  void add_number(const std::string& column, double value);
  // Valid until the list changes.
  std::span<const NamedFeature> features();
  // What the keys or columns of the label and the importance held; empty and nothing if there were none.
  const std::string& label() const { return label_; }
  std::optional<double> importance() const { return importance_; }

 private:
  struct Piece {
    std::size_t begin;  // in text_; the namespace, then the name
    std::size_t name_space_bytes;
    std::size_t name_bytes;
    double value;
    bool is_word;
  };

  // Takes the value if its key is that of the label or the importance; false for other keys, which are features.
  bool take_special(const std::string& key, py::handle value);
  // True unless the value is a dict or a bag.
  bool add_scalar(const std::string& name_space, const std::string& key, py::handle value, bool is_category = false);
  // The words of a str, or of the str in a bag.
  void add_words(const std::string& name_space, py::handle text);

  RolesByName roles_;
  std::string label_;
  std::optional<double> importance_;
  std::string text_;
  std::vector<Piece> pieces_;
  std::vector<NamedFeature> features_;
  std::string pair_;
};

// What one thread needs to read examples.
struct Scratch {
  explicit Scratch(const Model& model) : reader(model), features(model.options().fields), line(reader.make_batch()) {}

  ExampleReader reader;
  FeatureList features;
  Batch line;
  std::vector<NamedFeature> columns;  // of a row of a matrix, whose names are in `digits`
  std::vector<char> digits;
};

// Appends the example of scratch.features. Its label and importance are those of the note, if they are given there.
void append_features(const Annotation& note, Scratch& scratch, Batch& batch);

// Appends the example of x to the batch: a dict, a list of tokens, or a line. Throws BadExample, or a Python exception.
void append_object(py::handle x, const Annotation& note, Scratch& scratch, Batch& batch);

}  // namespace cpt::python
