// Writes golden files: models, and the checkpoints of runs that are cut off. What they say is recorded from models in
// memory and from runs that are not cut off. See README.md.
#include <cstdio>
#include <fstream>
#include <string>

#include "golden/golden.h"
#include "train/job.h"

namespace cpt::golden {
namespace {

void write(const std::string& name, const std::string& text) { std::ofstream(name, std::ios::binary) << text; }

constexpr std::size_t kShardExamples = 80;
constexpr std::size_t kExamples = 3 * kShardExamples;

void make_shards() {
  std::filesystem::create_directory("shards");
  for (const auto& [name, seed] : {std::pair{"a", 1U}, {"b", 2U}, {"c", 3U}}) {
    const std::string lines = random_lines({.seed = seed, .examples = kShardExamples, .labels = 40});
    write(std::string("shards/") + name + ".vw", lines);
  }
}

// Cuts a run off at its first checkpoint in the middle of its second pass.
class CutOff : public Recorder {
 public:
  void checkpointed(const CheckpointReport& report) override {
    if (report.examples > kExamples) throw Error(Fault::kFailed, "cut off");
  }
};

void make_model(const Run& run, const std::string& folder, const std::string& figures_file) {
  TrainingOptions options = options_of(run);
  options.checkpoints.keep = 0;
  Recorder recorder;
  const Model model = std::move(train(options, recorder).model);
  model.save(folder);
  write(figures_file, figures(model));
}

void make_run(const Run& run) {
  TrainingOptions options = options_of(run);
  options.checkpoints.keep = 0;
  write(std::string(run.name) + ".txt", figures(results_on(run.ranks, options)[0].summary));
  options.checkpoints.keep = 1;
  options.checkpoints.every_examples = 60;
  CutOff cut_off;
  train_on(run.ranks, options, {.observer = &cut_off});
}

}  // namespace
}  // namespace cpt::golden

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s NEW_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::filesystem::create_directory(argv[1]);
  std::filesystem::current_path(argv[1]);
  using namespace cpt::golden;
  make_shards();
  make_model({kModel, cpt::Placement::kPartitioned, 1}, kModel, kModelFigures);
  for (const Run& run : kRuns) make_run(run);
  make_run(kHybridRun);
  const auto make = [](const Run& run) {
    make_model(run, model_of(run), model_figures_of(run));
    make_run(run);
  };
  for (const Run& run : kMethodRuns) make(run);
  make(kTreesRun);
}
