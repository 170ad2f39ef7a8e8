// The module cpt._core, and how its exceptions become those of the package.
#include <exception>

#include "cpt/error.h"
#include "python/binding/model_binding.h"

namespace cpt::python {

namespace {

void set_python_error(const Error& error, const py::object& row, std::size_t column) {
  const py::object make = py::module_::import("cpt.errors").attr("make_error");
  const py::object exception = make(static_cast<int>(error.fault()), label_object(describe(error)), row,
                                    column == 0 ? py::none() : py::object(py::int_(column)));
  PyErr_SetObject(py::type::of(exception).ptr(), exception.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const BadRow& error) {
    set_python_error(error, py::int_(error.row()), error.column());
  } catch (const BadExample& error) {
    set_python_error(error, py::none(), error.column());
  } catch (const Error& error) {
    set_python_error(error, py::none(), 0);
  }
}

}  // namespace

}  // namespace cpt::python

PYBIND11_MODULE(_core, module) {
  pybind11::register_exception_translator(&cpt::python::translate);
  cpt::python::define_model(module);
  module.attr("__version__") = CPT_VERSION;
}
