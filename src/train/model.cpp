#include "cpt/model.h"

#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/learner.h"
#include "train/model_files.h"

namespace cpt {

Model::Model(const ModelOptions& options) : learner_(std::make_unique<Learner>(options)) {}
Model::Model(std::unique_ptr<Learner> learner) : learner_(std::move(learner)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::load(const std::filesystem::path& directory) { return Model(load_learner(directory)); }
void Model::save(const std::filesystem::path& directory) const { save_learner(*learner_, directory); }

const ModelOptions& Model::options() const { return learner_->options(); }
std::uint64_t Model::labels() const { return learner_->tree().labels(); }

double Model::probability(const ExampleView& x, std::string_view label) const {
  const LabelId id = learner_->labels().find(label, hash_label(label));
  if (id == kNoLabel) return 0;
  Walk walk;
  learner_->locate(x, id, walk);
  return learner_->predict(walk);
}

std::vector<Prediction> Model::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  std::vector<Prediction> predictions;
  for (const Ranked& ranked : learner_->estimator().top_k(x, k, threshold)) {
    predictions.push_back({learner_->labels().name(ranked.label), ranked.probability});
  }
  return predictions;
}

double Model::learn(const ExampleView& x) {
  if (x.label.empty()) throw Error(Fault::kUsage, "an example without a label cannot be learned");
  LabelId id = learner_->find(x);
  const bool is_new = id == kNoLabel;
  if (is_new) id = learner_->apply(learner_->settle(x));
  Walk walk;
  learner_->locate(x, id, walk);
  const double p = learner_->predict(walk);
  learner_->train(walk);
  return is_new ? 0 : p;
}

}  // namespace cpt
