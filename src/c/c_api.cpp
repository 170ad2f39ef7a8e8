// Implements include/cpt/cpt.h: each function calls the library and turns exceptions into a status.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "api/options/model_option_words.h"
#include "api/options/option_values.h"
#include "core/number_text.h"
#include "cpt/cpt.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "cpt/model.h"
#include "cpt/reader.h"
#include "cpt/version.h"
#include "data/format/read_options.h"

struct cpt_model {
  cpt::Model model;
};

struct cpt_example {
  explicit cpt_example(const cpt::Model& model) : options(model.options()), reader(model), batch(reader.make_batch()) {
    clear();
  }

  void clear() {
    batch.clear();
    reader.add({}, "", 1, batch);
    label.clear();
    is_of_line = false;
  }

  cpt::ModelOptions options;
  cpt::ExampleReader reader;
  cpt::Batch batch;                        // one example
  std::vector<cpt::NamedFeature> named{};  // room for those of cpt_example_set_features()
  std::string label{};                     // that of the example, with a 0 after it
  bool is_of_line = false;
};

namespace cpt {

namespace {

thread_local std::string last_error;

int remember(const std::exception& error) noexcept {
  try {
    last_error = describe(error);
  } catch (...) {
    last_error.clear();
  }
  return static_cast<int>(fault_of(error));
}

// Runs `call`. Returns 0, or the status of the exception that it throws.
template <class Call>
int status_of(Call call) noexcept {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    return remember(error);
  } catch (...) {
    return static_cast<int>(Fault::kFailed);
  }
}

template <class T>
T& given(T* pointer, const char* name) {
  if (pointer != nullptr) return *pointer;
  throw Error(Fault::kUsage, std::string("expected ") + name + ", found NULL");
}

std::string_view text(const char* pointer, const char* name) { return &given(pointer, name); }

ExampleView example_view(const cpt_example* example) { return given(example, "an example").batch[0]; }

Format line_format(std::string_view name) {
  const auto found = format_names().find(std::string(name));
  const bool is_of_lines = found != format_names().end() && found->second != Format::kAuto &&
                           found->second != Format::kBinary && found->second != Format::kCsv;
  if (is_of_lines) return found->second;
  throw Error(Fault::kUsage, "expected the format vw, libsvm, fasttext or json, found '" + std::string(name) + "'");
}

float importance_as_float(double importance) {
  if (!rounds_to_zero(importance)) return static_cast<float>(importance);
  throw Error(Fault::kUsage, std::string("expected ") + kImportanceNotZero + ", found " + number_text(importance));
}

[[noreturn]] void fail_unlabelled() {
  throw Error(Fault::kUsage, "expected a label, found NULL and an example without one");
}

ModelOptionWords option_words(const char* const* options, std::size_t count) {
  ModelOptionWords list;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view option = text(given(&options, "options")[i], "an option");
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos) {
      throw Error(Fault::kUsage, "expected NAME=VALUE, found '" + std::string(option) + "'");
    }
    const std::string name(option.substr(0, equals));
    const std::string value(option.substr(equals + 1));
    const auto known = std::ranges::find(list, name, &ModelOptionWords::value_type::first);
    if (known == list.end()) {
      list.push_back({name, {value}});
    } else {
      known->second.push_back(value);
    }
  }
  return list;
}

}  // namespace

}  // namespace cpt

const char* cpt_version() { return cpt::version(); }
const char* cpt_error() { return cpt::last_error.c_str(); }

cpt_model* cpt_create(const char* const* options, size_t count) {
  cpt_model* made = nullptr;
  cpt::status_of([&] {
    if (count > 0) cpt::given(options, "options");
    made = new cpt_model{cpt::Model(cpt::parse_model_options(cpt::option_words(options, count)))};
  });
  return made;
}

cpt_model* cpt_load(const char* directory) {
  cpt_model* made = nullptr;
  cpt::status_of([&] { made = new cpt_model{cpt::Model::load(cpt::text(directory, "a directory"))}; });
  return made;
}

int cpt_save(const cpt_model* model, const char* directory) {
  return cpt::status_of([&] { cpt::given(model, "a model").model.save(cpt::text(directory, "a directory")); });
}

void cpt_free(cpt_model* model) { delete model; }

uint64_t cpt_labels(const cpt_model* model) { return model == nullptr ? 0 : model->model.labels(); }

int cpt_label(const cpt_model* model, uint64_t number, char* name, size_t size, size_t* length) {
  return cpt::status_of([&] {
    const std::string_view whole = cpt::given(model, "a model").model.label(number);
    if (length != nullptr) *length = whole.size();
    if (size == 0) return;
    char* const end = std::ranges::copy(whole.substr(0, size - 1), &cpt::given(name, "room for a name")).out;
    *end = 0;
  });
}

int cpt_find_label(const cpt_model* model, const char* label, uint64_t* number) {
  return cpt::status_of([&] {
    const auto found = cpt::given(model, "a model").model.find(cpt::text(label, "a label"));
    cpt::given(number, "room for a number") = found.value_or(UINT64_MAX);
  });
}

int cpt_digests(const cpt_model* model, uint64_t* tree, uint64_t* weights) {
  return cpt::status_of([&] {
    const cpt::ModelDigests digests = cpt::given(model, "a model").model.digests();
    cpt::given(tree, "room for a digest") = digests.tree;
    cpt::given(weights, "room for a digest") = digests.weights;
  });
}

cpt_example* cpt_example_create(const cpt_model* model) {
  cpt_example* made = nullptr;
  cpt::status_of([&] { made = new cpt_example(cpt::given(model, "a model").model); });
  return made;
}

void cpt_example_free(cpt_example* example) { delete example; }

int cpt_example_set_format(cpt_example* example, const char* format) {
  return cpt::status_of([&] {
    cpt_example& set = cpt::given(example, "an example");
    set.reader = cpt::ExampleReader(set.options, cpt::line_format(cpt::text(format, "a format")));
  });
}

int cpt_example_set_line(cpt_example* example, const char* line) {
  return cpt::status_of([&] {
    cpt_example& set = cpt::given(example, "an example");
    set.clear();
    const std::string_view text = cpt::text(line, "a line");
    set.batch.clear();
    std::size_t made = 0;
    try {
      made = set.reader.read_line(text, set.batch);
      if (made == 1) set.label = set.batch[0].label;
    } catch (...) {
      set.clear();
      throw;
    }
    set.is_of_line = made == 1;
    if (set.is_of_line) return;
    set.clear();
    throw cpt::BadExample(1, "expected an example, found a line without one");
  });
}

int cpt_example_set_features(cpt_example* example, const cpt_feature* features, size_t count) {
  return cpt::status_of([&] {
    cpt_example& set = cpt::given(example, "an example");
    set.clear();
    if (count > 0) cpt::given(features, "features");
    set.named.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const cpt_feature& feature = features[i];
      set.named.push_back({feature.name_space == nullptr ? "" : feature.name_space,
                           cpt::text(feature.name, "the name of a feature"), feature.value});
    }
    set.batch.clear();
    try {
      set.reader.add(set.named, "", 1, set.batch);
    } catch (...) {
      set.clear();
      throw;
    }
  });
}

const char* cpt_example_label(const cpt_example* example) {
  return example == nullptr || example->label.empty() ? nullptr : example->label.c_str();
}

double cpt_example_importance(const cpt_example* example) {
  return example != nullptr && example->is_of_line ? static_cast<double>(example->batch[0].importance) : 0;
}

int cpt_probability(const cpt_model* model, const cpt_example* example, const char* label, double* probability) {
  return cpt::status_of([&] {
    const cpt::ExampleView x = cpt::example_view(example);
    const std::string_view of = label == nullptr ? x.label : label;
    if (label == nullptr && of.empty()) cpt::fail_unlabelled();
    const double p = cpt::given(model, "a model").model.probability(x, of);
    cpt::given(probability, "room for a probability") = p;
  });
}

int cpt_known_part(const cpt_model* model, const cpt_example* example, double* part) {
  return cpt::status_of([&] {
    const double known = cpt::given(model, "a model").model.known_part(cpt::example_view(example));
    cpt::given(part, "room for a number") = known;
  });
}

int cpt_top_k(const cpt_model* model, const cpt_example* example, size_t k, double threshold, uint64_t* labels,
              double* probabilities, size_t* found) {
  return cpt::status_of([&] {
    cpt::given(found, "room for a number") = 0;
    if (k == 0) return;
    cpt::given(labels, "room for labels");
    cpt::given(probabilities, "room for probabilities");
    const cpt::Model& known = cpt::given(model, "a model").model;
    for (const cpt::Prediction& best : known.top_k(cpt::example_view(example), k, threshold)) {
      labels[*found] = best.number;
      probabilities[(*found)++] = best.probability;
    }
  });
}

int cpt_learn(cpt_model* model, const cpt_example* example, const char* label, double importance, double* before) {
  return cpt::status_of([&] {
    cpt::ExampleView x = cpt::example_view(example);
    if (label != nullptr) {
      x.label = label;
      x.label_hash = cpt::hash_label(label);
    }
    x.importance = cpt::importance_as_float(importance);
    const double p = cpt::given(model, "a model").model.learn(x);
    if (before != nullptr) *before = p;
  });
}
