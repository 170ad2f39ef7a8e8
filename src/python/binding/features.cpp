#include "python/binding/features.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/input_limits.h"
#include "core/number_text.h"
#include "cpt/hashing.h"
#include "data/format/read_options.h"
#include "data/text/tokens.h"

namespace cpt::python {

namespace {

constexpr std::size_t kMostDepth = 16;  // of dicts, as of JSON objects

std::string type_name(py::handle object) { return Py_TYPE(object.ptr())->tp_name; }

[[noreturn]] void refuse_type(const std::string& expected, py::handle found) {
  throw py::type_error("expected " + expected + ", found an object of type " + type_name(found));
}

std::string text_of(py::handle object) {
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(object.ptr(), &size)) return {text, static_cast<std::size_t>(size)};
  PyErr_Clear();
  PyObject* bytes = PyUnicode_AsEncodedString(object.ptr(), "utf-8", "surrogateescape");
  if (bytes == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw py::error_already_set();
    PyErr_Clear();
    throw BadExample(0, "expected text, found a surrogate that stands for no byte");
  }
  return std::string(py::reinterpret_steal<py::bytes>(bytes));
}

bool is_instance(py::handle object, const char* numpy_type) {
  return py::isinstance(object, py::module_::import("numpy").attr(numpy_type));
}

bool is_text(py::handle object) { return PyUnicode_Check(object.ptr()); }

// Recognizes Python's own numbers and texts without importing numpy.
bool is_builtin(py::handle object) {
  return PyUnicode_Check(object.ptr()) || PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr());
}

bool is_bool(py::handle object) {
  return PyBool_Check(object.ptr()) || (!is_builtin(object) && is_instance(object, "bool_"));
}

bool is_bag(py::handle object) {
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) || PyAnySet_Check(object.ptr())) return true;
  return !is_builtin(object) && is_instance(object, "ndarray");
}

std::string bool_text(py::handle object) {
  const int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth == 1 ? "true" : "false";
}

bool is_number(py::handle object) {
  return PyFloat_Check(object.ptr()) || PyIndex_Check(object.ptr()) || is_instance(object, "number");
}

// Nothing if the object is not a number.
std::optional<double> number_in(py::handle object) {
  const double number = PyFloat_AsDouble(object.ptr());
  if (number != -1 || PyErr_Occurred() == nullptr) return number;
  if (PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
    PyErr_Clear();
    throw BadExample(0, "expected a finite number, found an integer that is too large");
  }
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  return std::nullopt;
}

double number_of(const std::string& key, py::handle value) {
  if (const auto number = number_in(value)) return *number;
  refuse_type("a number, a str, a bool, a list or a dict as value of " + py::repr(py::str(key)).cast<std::string>(),
              value);
}

std::string integer_text(py::handle object) {
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!integer) throw py::error_already_set();
  return text_of(py::str(integer));
}

// Whether a token is None or NaN, with which pandas marks missing values.
bool is_missing(py::handle token) {
  if (token.is_none()) return true;
  if (!PyFloat_Check(token.ptr()) && (is_builtin(token) || !is_instance(token, "floating"))) return false;
  const auto number = number_in(token);
  return number && std::isnan(*number);
}

// Refuses what has numbers in columns: a row of an array, of a list of such rows, or of a data frame's itertuples().
void check_tokens(py::handle bag) {
  if (PyTuple_Check(bag.ptr()) && py::hasattr(bag, "_fields")) {
    refuse_type("an example, of a data frame one such as df.iloc[[i]]", bag);
  }
  if (!PyList_Check(bag.ptr()) && py::hasattr(bag, "dtype") &&
      bag.attr("dtype").attr("kind").cast<std::string>().find_first_of("biufc") == 0) {
    refuse_type("an example, of an array of numbers one such as X[[i]]", bag);
  }
  for (const py::handle token : py::reinterpret_borrow<py::iterable>(bag)) {
    if (PyFloat_Check(token.ptr()) && !is_missing(token)) {
      refuse_type("tokens in a list, and rows of numbers in an array of shape (rows, columns)", token);
    }
  }
}

// The text of an element of a bag, or of a key.
std::string token_text(py::handle token, const char* expected) {
  if (is_text(token)) return text_of(token);
  if (is_bool(token)) return bool_text(token);
  if (is_bag(token) || !is_number(token)) refuse_type(expected, token);
  return text_of(py::str(token));
}

}  // namespace

void check_label(std::string_view label, const Annotation& note) {
  if (note.label_required && label.empty()) throw BadExample(0, "expected a label, found none");
}

std::string label_text(py::handle label) {
  if (is_text(label)) return text_of(label);
  if (is_bool(label)) return bool_text(label);
  if (PyIndex_Check(label.ptr()) == 0 || is_bag(label)) refuse_type("a label that is a str or an int", label);
  return integer_text(label);
}

double importance_of(py::handle importance) {
  if (const auto number = number_in(importance)) return *number;
  refuse_type("a number as importance", importance);
}

py::str label_object(std::string_view text) {
  PyObject* object = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

void FeatureList::clear() {
  label_.clear();
  importance_.reset();
  text_.clear();
  pieces_.clear();
}

void FeatureList::add(std::string_view name_space, std::string_view name, double value, bool is_word) {
  pieces_.push_back({text_.size(), name_space.size(), name.size(), value, is_word});
  text_.append(name_space).append(name);
}

bool FeatureList::take_special(const std::string& key, py::handle value) {
  const FieldRole role = roles_.of(key);
  if (role == FieldRole::kImportance) {
    if (!value.is_none()) importance_ = importance_of(value);
    return true;
  }
  if (role != FieldRole::kLabel) return false;
  // As MultiLabel::kFirst: of several labels the first counts.
  py::object label = py::reinterpret_borrow<py::object>(value);
  if (is_bag(value)) {
    const py::list several(label);
    label = several.empty() ? py::object(py::none()) : py::object(several[0]);
  }
  if (!label.is_none()) label_ = label_text(label);
  return true;
}

bool FeatureList::add_scalar(const std::string& name_space, const std::string& key, py::handle value,
                             bool is_category) {
  if (value.is_none()) return true;
  if (PyDict_Check(value.ptr()) || is_bag(value)) return false;
  if (is_category) {
    pair_.assign(key).append("=").append(token_text(value, "a str, a number or a bool as a category"));
  } else if (!is_text(value) && !is_bool(value)) {
    add(name_space, key, number_of(key, value));
    return true;
  } else {
    pair_.assign(key).append("=").append(is_text(value) ? text_of(value) : bool_text(value));
  }
  add(name_space, pair_, 1);
  return true;
}

void FeatureList::add_words(const std::string& name_space, py::handle text) {
  if (text.is_none()) return;
  if (is_text(text)) {
    return for_each_word(text_of(text), [&](std::string_view word) { add(name_space, word, 1, true); });
  }
  if (!is_bag(text)) refuse_type("text: a str, or a list of str", text);
  for (const py::handle part : py::reinterpret_borrow<py::iterable>(text)) {
    if (is_bag(part)) refuse_type("text: a str, or a list of str", part);
    add_words(name_space, part);
  }
}

void FeatureList::add_dict(py::handle dict, const std::string& path, std::size_t depth) {
  // A copy of the items: reading a value may run Python code, which may change the dict.
  const auto items = py::reinterpret_steal<py::list>(PyDict_Items(dict.ptr()));
  if (!items) throw py::error_already_set();
  for (const py::handle item : items) {
    const py::handle value = PyTuple_GET_ITEM(item.ptr(), 1);
    const std::string key = token_text(PyTuple_GET_ITEM(item.ptr(), 0), "a key that is a str or a number");
    if (depth == 1 && take_special(key, value)) continue;
    const std::string inner = path.empty() ? key : path + "." + key;
    const FieldRole role = roles_.has_feature_roles() ? roles_.of(inner) : FieldRole::kOther;
    if (role == FieldRole::kIgnored) continue;
    if (role == FieldRole::kText) {
      add_words(inner, value);
      continue;
    }
    if (add_scalar(path, key, value, role == FieldRole::kCategory)) continue;
    if (!PyDict_Check(value.ptr())) {
      add_bag(inner, value);
      continue;
    }
    if (depth == kMostDepth) {
      throw BadExample(0, "expected at most " + std::to_string(kMostDepth) + " dicts inside one another");
    }
    add_dict(value, inner, depth + 1);
  }
}

void FeatureList::add_bag(const std::string& name_space, py::handle bag) {
  const bool has_order = PyAnySet_Check(bag.ptr()) == 0;
  for (const py::handle token : py::reinterpret_borrow<py::iterable>(bag)) {
    if (is_missing(token)) continue;
    add(name_space, token_text(token, "only str, numbers and bools in a list"), 1, has_order);
  }
}

void FeatureList::add_cell(const std::string& column, py::handle value) {
  if (take_special(column, value)) return;
  const FieldRole role = roles_.of(column);
  if (role == FieldRole::kIgnored) return;
  if (role == FieldRole::kText) return add_words(column, value);
  if (add_scalar(column, column, value, role == FieldRole::kCategory)) return;
  if (PyDict_Check(value.ptr())) refuse_type("a number, a str, a bool or a list in column '" + column + "'", value);
  add_bag(column, value);
}

void FeatureList::add_number(const std::string& column, double value) {
  const FieldRole role = roles_.of(column);
  if (role == FieldRole::kOther) return add(column, column, value);
  // Whole numbers stay whole, as in CSV: pandas makes floats of a whole column if one of its values is missing.
  const bool is_whole = std::trunc(value) == value && std::abs(value) < 0x1p53;
  const py::object number = is_whole ? py::object(py::int_(static_cast<std::int64_t>(value))) : py::float_(value);
  add_cell(column, number);
}

std::span<const NamedFeature> FeatureList::features() {
  const std::string_view text = text_;
  features_.clear();
  for (const Piece& piece : pieces_) {
    features_.push_back({text.substr(piece.begin, piece.name_space_bytes),
                         text.substr(piece.begin + piece.name_space_bytes, piece.name_bytes), piece.value,
                         piece.is_word});
  }
  return features_;
}

namespace {

void append_line(std::string_view text, const Annotation& note, Scratch& scratch, Batch& batch) {
  scratch.line.clear();
  if (scratch.reader.read_line(text, scratch.line) != 1)
    throw BadExample(1, "expected an example, found a line without one");
  ExampleView x = scratch.line[0];
  x.label = note.label.value_or(x.label);
  check_label(x.label, note);
  const double importance = note.importance.value_or(static_cast<double>(x.importance));
  if (!(importance >= 0 && importance <= kMaxImportance)) {
    throw BadExample(0, "expected an importance from 0 to 1e12, found " + number_text(importance));
  }
  if (rounds_to_zero(importance)) {
    throw BadExample(0, std::string("expected ") + kImportanceNotZero + ", found " + number_text(importance));
  }
  x.label_hash = hash_label(x.label);
  x.importance = static_cast<float>(importance);
  batch.append(x);
}

}  // namespace

void append_features(const Annotation& note, Scratch& scratch, Batch& batch) {
  FeatureList& list = scratch.features;
  const std::string_view label = note.label.value_or(list.label());
  check_label(label, note);
  const double importance = note.importance.value_or(list.importance().value_or(1));
  scratch.reader.add(list.features(), label, importance, batch);
}

void append_object(py::handle x, const Annotation& note, Scratch& scratch, Batch& batch) {
  if (is_text(x)) return append_line(text_of(x), note, scratch, batch);
  scratch.features.clear();
  if (PyDict_Check(x.ptr())) {
    scratch.features.add_dict(x);
  } else if (is_bag(x)) {
    check_tokens(x);
    scratch.features.add_bag("", x);
  } else {
    refuse_type("an example that is a dict, a list of tokens, a line of text or a table of one row", x);
  }
  append_features(note, scratch, batch);
}

}  // namespace cpt::python
