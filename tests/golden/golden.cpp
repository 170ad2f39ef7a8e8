#include "golden/golden.h"

#include <iomanip>
#include <sstream>
#include <string>

#include "data/pipeline/example_stream.h"
#include "model/learning/learner.h"

namespace cpt::golden {

namespace {

constexpr std::size_t kPredicted = 3;  // examples, of the first shard

}  // namespace

TrainingOptions options_of(const Run& run) {
  TrainingOptions options;
  options.model.bits = run.bits;
  options.model.method = run.method;
  options.model.arity = run.arity;
  options.model.trees = run.trees;
  options.placement = run.placement;
  options.data = {"shards/a.vw", "shards/b.vw", "shards/c.vw"};
  options.passes = 2;
  options.split = 2;
  options.sync_examples = 40;
  options.round_examples = 30;
  options.checkpoints.directory = run.name;
  return options;
}

std::string model_of(const Run& run) { return std::string(run.name) + "-model"; }
std::string model_figures_of(const Run& run) { return model_of(run) + ".txt"; }

std::string figures(const Model& model) {
  std::ostringstream text;
  const Learner& learner = model.learner();
  text << std::hex << "tree " << learner.structure_digest() << "\nweights " << learner.weights().digest() << std::dec
       << "\nlabels " << model.labels() << '\n';
  ReadOptions options;
  options.seed = model.options().seed;
  ExampleStream stream(find_shards({"shards/a.vw"}), {0}, options);
  Batch batch = stream.make_batch();
  while (batch.size() < kPredicted && stream.read(batch)) {
  }
  text << std::hexfloat;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (LabelId label = 0; label < model.labels(); ++label) {
      const std::string_view name = learner.labels().name(label);
      text << "example " << i << ' ' << name << ' ' << model.probability(batch[i], name) << '\n';
    }
  }
  return text.str();
}

std::string figures(const Summary& summary) {
  std::ostringstream text;
  text << std::hex << "tree " << summary.tree.digest << "\nweights " << summary.weight_digest << std::dec
       << "\nexamples " << summary.train.examples << "\nnew labels " << summary.train.new_labels << "\nlines used "
       << summary.rows_used << '\n';
  return text.str();
}

}  // namespace cpt::golden
