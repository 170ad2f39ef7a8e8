#include "python/binding/model_binding.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/explanation/explanation.h"
#include "api/explanation/feature_names.h"
#include "api/options/model_option_words.h"
#include "model/learning/learner.h"
#include "python/binding/many.h"

namespace cpt::python {

namespace {

// Appends the example of x: an object, or a table of one row.
void append_example(py::handle x, const Annotation& note, Scratch& scratch, Batch& batch) {
  if (!py::isinstance<Rows>(x)) return append_object(x, note, scratch, batch);
  const auto& rows = x.cast<const Rows&>();
  if (rows.size() != 1) throw py::value_error("expected one example, found " + std::to_string(rows.size()) + " rows");
  rows.append(0, note, scratch, batch);
}

// A batch with the example of x.
Batch make_example(const LockedModel& model, py::handle x, const py::object& label, const py::object& importance,
                   bool label_required) {
  std::string text;
  Annotation note{.label_required = label_required};
  if (!label.is_none()) note.label = text = label_text(label);
  if (!importance.is_none()) note.importance = importance_of(importance);
  Scratch scratch = model.make_scratch();
  Batch batch = scratch.reader.make_batch();
  append_example(x, note, scratch, batch);
  return batch;
}

double learn(LockedModel& locked, py::handle x, const py::object& label, const py::object& importance) {
  const Batch batch = make_example(locked, x, label, importance, true);
  return locked.change([&](Model& model) {
    return batch[0].importance > 0 ? model.learn(batch[0]) : model.probability(batch[0], batch[0].label);
  });
}

double probability(const LockedModel& locked, py::handle x, const py::object& label) {
  const Batch batch = make_example(locked, x, label, py::none(), true);
  return locked.read([&](const Model& model) { return model.probability(batch[0], batch[0].label); });
}

double known_part(const LockedModel& locked, py::handle x) {
  const Batch batch = make_example(locked, x, py::none(), py::none(), false);
  return locked.read([&](const Model& model) { return model.known_part(batch[0]); });
}

py::list top_k(const LockedModel& locked, py::handle x, std::size_t k, double threshold) {
  const Batch batch = make_example(locked, x, py::none(), py::none(), false);
  // Copies the names: another thread may change the model before they become Python objects.
  const auto best = locked.read([&](const Model& model) {
    std::vector<std::pair<std::string, double>> found;
    for (const Prediction& p : model.top_k(batch[0], k, threshold)) found.emplace_back(p.label, p.probability);
    return found;
  });
  py::list list;
  for (const auto& [label, p] : best) list.append(py::make_tuple(label_object(label), p));
  return list;
}

py::list labels_from(const LockedModel& locked, std::size_t first) {
  const auto names = locked.read([&](const Model& model) {
    std::vector<std::string> texts;
    for (std::uint64_t i = first; i < model.labels(); ++i) texts.emplace_back(model.label(i));
    return texts;
  });
  py::list list;
  for (const std::string& name : names) list.append(label_object(name));
  return list;
}

py::list contribution_list(const std::vector<Contribution>& contributions, const FeatureNames& names) {
  py::list list;
  for (const Contribution& part : contributions) {
    list.append(py::make_tuple(label_object(names.name(part.feature)), part.value));
  }
  return list;
}

py::list step_list(const std::vector<ExplainedStep>& steps, const FeatureNames& names) {
  py::list list;
  for (const ExplainedStep& step : steps) {
    py::object calibration = py::none();
    if (const auto& terms = step.calibration) {
      calibration = py::make_tuple(terms->a, terms->b, terms->c, terms->margin, terms->rare_margin);
    }
    list.append(py::make_tuple(step.depth, step.side, step.probability, calibration,
                               contribution_list(step.contributions, names)));
  }
  return list;
}

// None if the model does not know the label.
py::object explain_label(const LockedModel& locked, py::handle x, const py::object& label, std::uint64_t top) {
  FeatureNames names;
  Scratch scratch = locked.make_scratch();
  scratch.reader.on_feature([&names](FeatureHash feature, std::string_view name_space, std::string_view name) {
    names.add(feature, name_space, name);
  });
  Batch batch = scratch.reader.make_batch();
  const std::string text = label_text(label);
  Annotation note{.label_required = true};
  note.label = text;
  append_example(x, note, scratch, batch);
  const auto explanation = locked.read([&](const Model& model) {
    require_explainable(model.options());
    model.probability(batch[0], batch[0].label);  // throws if a value is out of range
    const LabelId id = model.learner().find(batch[0]);
    return id == kNoLabel ? std::nullopt : std::optional(explain(model.learner(), batch[0], id, top));
  });
  if (!explanation) return py::none();
  py::list trees;
  for (const ExplainedTree& tree : explanation->trees) {
    trees.append(py::make_tuple(tree.probability, step_list(tree.steps, names)));
  }
  return py::make_tuple(label_object(text), explanation->probability, trees,
                        contribution_list(explanation->contributions, names));
}

std::unique_ptr<LockedModel> load(const std::filesystem::path& path) {
  const GilRelease released;
  return std::make_unique<LockedModel>(Model::load(path));
}

py::tuple figures(const LockedModel& locked) {
  const ModelFigures all = locked.read([](const Model& model) { return model.figures(); });
  return py::make_tuple(all.rows, all.rows_used, all.trees, all.depth_max, all.depth_mean, all.depth_bound);
}

py::tuple digests(const LockedModel& locked) {
  const ModelDigests digests = locked.read([](const Model& model) { return model.digests(); });
  return py::make_tuple(digests.tree, digests.weights);
}

}  // namespace

void define_model(py::module_& module) {
  using py::arg;
  py::class_<Rows>(module, "Rows").def("__len__", &Rows::size);
  py::class_<ObjectRows, Rows>(module, "ObjectRows").def(py::init<const py::list&>());
  py::class_<CsrRows, Rows>(module, "CsrRows").def(py::init<CsrRows::Indices, CsrRows::Indices, CsrRows::Numbers>());
  py::class_<DenseRows, Rows>(module, "DenseRows").def(py::init<DenseRows::Numbers>());
  py::class_<TableRows, Rows>(module, "TableRows")
      .def(py::init<const std::vector<std::string>&, const py::list&, std::size_t>());
  py::class_<LockedModel>(module, "Model")
      .def(py::init([](const ModelOptionWords& options) {
        return std::make_unique<LockedModel>(Model(parse_model_options(options, '_')));
      }))
      .def_static("load", &load)
      .def("save",
           [](const LockedModel& locked, const std::filesystem::path& path) {
             locked.read([&](const Model& model) { model.save(path); });
           })
      .def("options", [](const LockedModel& locked) { return list_model_options(locked.options(), '_'); })
      .def("size", [](const LockedModel& locked) { return locked.read([](const Model& m) { return m.labels(); }); })
      .def("labels", &labels_from, arg("first"))
      .def("digests", &digests)
      .def("figures", &figures)
      .def("learn", &learn)
      .def("probability", &probability)
      .def("known_part", &known_part)
      .def("top_k", &top_k)
      .def("explain", &explain_label)
      .def("learn_many", &learn_many)
      .def("probabilities", &probabilities)
      .def("all_probabilities", &all_probabilities)
      .def("top_k_many", &top_k_many);
}

}  // namespace cpt::python
