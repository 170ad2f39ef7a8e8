// Learning and predicting many examples without the interpreter's lock.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>

#include "python/binding/model_binding.h"

namespace cpt::python {

// P(label | x) of each row before it was learned. `labels`: a list with one for each row, or None: those of the rows.
// `importances`: an array or None. A row of importance 0 is only predicted. Rows before one that fails were learned.
// Rows that do not need Python are read on a thread of their own.
py::array_t<double> learn_many(LockedModel& locked, const Rows& rows, const py::object& labels,
                               const py::object& importances);

// The results below do not depend on the number of threads.

// P of each label given each row. If `per_row`, row i has its own `width` labels, from i * width on.
py::array_t<double> probabilities(const LockedModel& locked, const Rows& rows, const py::list& labels, bool per_row,
                                  std::size_t width, std::size_t threads);
// P of the first `labels` labels given each row: (rows, labels).
py::array_t<double> all_probabilities(const LockedModel& locked, const Rows& rows, std::size_t labels,
                                      std::size_t threads);
// Two arrays (rows, k): numbers of labels and their probabilities; -1 and 0 where a row has no more labels.
py::tuple top_k_many(const LockedModel& locked, const Rows& rows, std::size_t k, double threshold, std::size_t threads);

}  // namespace cpt::python
