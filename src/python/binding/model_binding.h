// The class _core.Model: a model that many Python threads may use.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "cpt/model.h"
#include "python/binding/gil_release.h"
#include "python/binding/rows.h"

namespace cpt::python {

// A model and its lock. The lock is taken only where the interpreter's lock is not held: a thread that holds one of the
// two never waits for the other.
class LockedModel {
 public:
  explicit LockedModel(Model model) : model_(std::move(model)) {}

  template <class Read>
  auto read(Read use) const {
    const GilRelease released;
    const std::shared_lock lock(mutex_);
    return use(model_);
  }
  template <class Change>
  auto change(Change use) {
    const GilRelease released;
    const std::unique_lock lock(mutex_);
    return use(model_);
  }
  // The options never change, nor does what else a Scratch is made of.
  const ModelOptions& options() const { return model_.options(); }
  Scratch make_scratch() const { return Scratch(model_); }

 private:
  Model model_;
  mutable std::shared_mutex mutex_;
};

void define_model(py::module_& module);

}  // namespace cpt::python
