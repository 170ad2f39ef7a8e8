#include "cpt/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "api/model_files.h"
#include "api/tree_figures.h"
#include "core/number_text.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/format/read_options.h"
#include "model/learning/in_order.h"
#include "model/learning/learner.h"
#include "store/fs/durable_file.h"

namespace cpt {

namespace {

const ModelOptions& able_to_learn(const ModelOptions& options) {
  if (options.method == Method::kPecoc) {
    throw Error(Fault::kUsage, "a model of method pecoc must know its labels before it learns: train it with cpt_dist");
  }
  if (options.tree == TreeKind::kGiven) {
    throw Error(Fault::kUsage, "a model without labels cannot have a given tree: train it with cpt_dist");
  }
  return options;
}

const std::filesystem::path& named(const std::filesystem::path& directory) {
  if (!directory.empty()) return directory;
  throw Error(Fault::kUsage, "expected a directory, found an empty name");
}

void check_values(const ExampleView& x) {
  const auto fine = [](float value) { return std::abs(value) <= static_cast<float>(kMaxValue); };  // NaN is not
  if (std::ranges::all_of(x.values, fine)) return;
  throw Error(Fault::kUsage, "an example has a value that is not finite or above 1e30 in size");
}

void check_learnable(const ExampleView& x) {
  if (x.label.empty()) throw Error(Fault::kUsage, "an example without a label cannot be learned");
  if (!(x.importance > 0 && x.importance <= static_cast<float>(kMaxImportance)))
    throw Error(Fault::kUsage, "an example cannot be learned: expected an importance above 0 and at most 1e12, found " +
                                   number_text(static_cast<double>(x.importance)));
  check_values(x);
}

// Computes the hash anew: ExampleView::label_hash may be wrong in an example that a program made.
LabelId find_label(const Learner& learner, std::string_view label) {
  return learner.labels().find(label, hash_label(label));
}

// Of the calling thread: several may call const members at a time, and a new one for each call would take longer than
// the prediction.
PathState& path_state_of_thread() {
  static thread_local PathState path_state;
  return path_state;
}

template <class Text>
std::vector<double> probabilities_of(const Learner& learner, const ExampleView& x, std::span<const Text> labels) {
  check_values(x);
  std::vector<LabelId> known;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const LabelId id = find_label(learner, labels[i]);
    if (id == kNoLabel) continue;
    known.push_back(id);
    columns.push_back(i);
  }
  std::vector<double> all(labels.size());
  if (known.empty()) return all;
  const std::vector<double> found = learner.probabilities(x, known);
  for (std::size_t i = 0; i < found.size(); ++i) all[columns[i]] = found[i];
  return all;
}

}  // namespace

Model::Model(const ModelOptions& options) : learner_(std::make_unique<Learner>(able_to_learn(options))) {}
Model::Model(std::unique_ptr<Learner> learner) : learner_(std::move(learner)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::load(const std::filesystem::path& directory) { return Model(load_learner(named(directory))); }

void Model::save(const std::filesystem::path& directory) const {
  create_directories_durably(directory_of(named(directory)));
  save_learner(*learner_, directory);
}

const ModelOptions& Model::options() const { return learner_->options(); }
std::uint64_t Model::labels() const { return learner_->tree().labels(); }

std::string_view Model::label(std::uint64_t number) const {
  if (number < labels()) return learner_->labels().name(static_cast<LabelId>(number));
  throw Error(Fault::kUsage,
              "expected a number of a label below " + std::to_string(labels()) + ", found " + std::to_string(number));
}

std::optional<std::uint64_t> Model::find(std::string_view label) const {
  const LabelId id = find_label(*learner_, label);
  return id == kNoLabel ? std::nullopt : std::optional<std::uint64_t>(id);
}

ModelDigests Model::digests() const { return {learner_->structure_digest(), learner_->state_digest()}; }

ModelFigures Model::figures() const {
  const TreeFigures tree = measure_tree(*learner_);
  ModelFigures figures;
  if (!learner_->uses_frequencies()) {
    figures.rows = learner_->weights().rows();
    figures.rows_used = learner_->weights().survey().used;
  }
  figures.trees = tree.trees;
  figures.depth_max = tree.depth_max;
  figures.depth_mean = tree.depth_mean;
  figures.depth_bound = tree.depth_bound;
  return figures;
}

double Model::known_part(const ExampleView& x) const {
  const FeatureCounts& counts = learner_->feature_counts();
  const std::span<const FeatureHash> features = x.features.empty() ? x.features : x.features.subspan(1);
  if (!counts.used() || counts.examples() == 0 || features.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto met = std::ranges::count_if(features, [&](FeatureHash feature) { return counts.has_counted(feature); });
  return static_cast<double>(met) / static_cast<double>(features.size());
}

double Model::probability(const ExampleView& x, std::string_view label) const {
  check_values(x);
  const LabelId id = find_label(*learner_, label);
  if (id == kNoLabel) return 0;
  PathState& path_state = path_state_of_thread();
  learner_->locate(x, id, path_state);
  return learner_->predict(path_state);
}

std::vector<double> Model::probabilities(const ExampleView& x, std::span<const std::string> labels) const {
  return probabilities_of(*learner_, x, labels);
}

std::vector<double> Model::probabilities(const ExampleView& x, std::span<const std::string_view> labels) const {
  return probabilities_of(*learner_, x, labels);
}

std::vector<double> Model::probabilities(const ExampleView& x, std::initializer_list<std::string_view> labels) const {
  return probabilities_of(*learner_, x, std::span(labels.begin(), labels.size()));
}

std::vector<Prediction> Model::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  check_values(x);
  if (std::isnan(threshold))
    throw Error(Fault::kUsage, "expected a number as threshold, found " + number_text(threshold));
  std::vector<Prediction> predictions;
  for (const Ranked& ranked : learner_->top_k(x, k, threshold)) {
    predictions.push_back({learner_->labels().name(ranked.label), ranked.probability, ranked.label});
  }
  return predictions;
}

double Model::learn(const ExampleView& x) {
  check_learnable(x);
  LabelId id = find_label(*learner_, x.label);
  const bool is_new = id == kNoLabel;
  if (is_new) id = learner_->apply(learner_->choose_split(x));
  PathState& path_state = path_state_of_thread();
  learner_->locate(x, id, path_state);
  FeatureCounts& counts = learner_->feature_counts();
  counts.update_counting(counts.examples_since());
  const double p = learner_->learn(path_state);
  counts.renew_if_due();
  return is_new ? 0 : p;
}

std::vector<double> Model::learn(const Batch& batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    check_learnable(batch[i]);
    if (!takes_label(batch[i])) {
      throw Error(Fault::kBadData, "expected one of the labels that the model was created with, found '" +
                                       std::string(batch[i].label) + "'");
    }
  }
  std::vector<double> probabilities(batch.size());
  FeatureCounts& counts = learner_->feature_counts();
  InOrder in_order(*learner_);
  for (std::size_t begin = 0; begin < batch.size();) {
    counts.update_counting(counts.examples_since());
    const std::size_t end = begin + std::min<std::uint64_t>(batch.size() - begin, counts.examples_until_change());
    in_order.learn_online({&batch, begin, end}, std::span(probabilities).subspan(begin, end - begin));
    counts.renew_if_due();
    begin = end;
  }
  return probabilities;
}

bool Model::takes_label(const ExampleView& x) const {
  return !x.label.empty() && (options().method != Method::kPecoc || find_label(*learner_, x.label) != kNoLabel);
}

}  // namespace cpt
