// Microseconds that questions to a trained model take, on one core, from parsed examples in memory: the exact best
// labels of a line, and the probability of its own label.
//
//   cpt_predict_bench [benchmark options] MODEL SHARDS...
//
// SHARDS (files, directories, globs) are read once, at most ten thousand lines of them, those whose label the model has
// met. Each line is timed by itself, since how much the search has to look at differs from line to line: the counters
// are the median and the 90th and 99th percentile of microseconds a line. `blocks` is the median number of blocks whose
// probability reaches that of the last label found: any exact search opens those.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cpt/model.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"
#include "model/estimators/descent.h"
#include "model/estimators/tree_estimator.h"
#include "model/learning/learner.h"

namespace cpt {
namespace {

constexpr std::size_t kMostLines = 10'000;

Batch read_lines(const std::vector<std::string>& patterns, const Learner& learner) {
  const std::vector<Shard> shards = find_shards(patterns);
  ReadOptions options;
  options.seed = learner.options().seed;
  options.interactions = learner.options().interactions;
  options.normalize = learner.options().normalize;
  ExampleStream reader(shards, assign_shards(shards, 1)[0], options);
  Batch line = reader.make_batch();
  Batch lines = reader.make_batch();
  while (lines.size() < kMostLines && reader.read(line)) {
    if (learner.find(line[0]) != kNoLabel) lines.append(line[0]);
    line.clear();
  }
  return lines;
}

double percentile(std::vector<double>& sample, double part) {
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(sample.size() - 1));
  std::nth_element(sample.begin(), sample.begin() + at, sample.end());
  return sample[static_cast<std::size_t>(at)];
}

// An iteration asks every line.
template <class Ask>
void time_lines(benchmark::State& state, const Batch& lines, Ask ask) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> microseconds;
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto begin = Clock::now();
      ask(lines[i]);
      microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(lines.size()) * state.iterations());
  state.counters["median"] = percentile(microseconds, 0.5);
  state.counters["p90"] = percentile(microseconds, 0.9);
  state.counters["p99"] = percentile(microseconds, 0.99);
}

// A Search of Descent that counts the blocks whose probability is at least `least`.
class BlockCount {
 public:
  explicit BlockCount(double least) : least_(least) {}

  double least() const { return least_; }
  void add_leaf(LabelId /*label*/, double /*probability*/) {}
  void add_outside(std::uint8_t /*exit*/, double /*probability*/) {}
  void add_subtree(double /*probability*/, std::uint32_t /*leaves*/) { ++blocks_; }

  std::size_t blocks() const { return blocks_; }

 private:
  double least_;
  std::size_t blocks_ = 1;  // the root's
};

double median_blocks(const Learner& learner, const Batch& lines, std::size_t k) {
  const auto* estimator = dynamic_cast<const TreeEstimator*>(&learner.estimator());
  if (estimator == nullptr) return 0;
  std::vector<double> blocks;
  std::vector<float*> rows;
  ScaledValues room;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const ScaledExample x = learner.scaled(lines[i], room);
    const std::vector<Ranked> best = estimator->top_k(x, k);
    BlockCount count(best.size() < k ? 0 : best.back().probability);
    Descent(x, learner.tree().structure(), estimator->regressors(), rows).search(1, count);
    blocks.push_back(static_cast<double>(count.blocks()));
  }
  return percentile(blocks, 0.5);
}

void top_k(benchmark::State& state, const Learner& learner, const Batch& lines, std::size_t k) {
  time_lines(state, lines, [&](const ExampleView& x) { benchmark::DoNotOptimize(learner.top_k(x, k)); });
  state.counters["blocks"] = median_blocks(learner, lines, k);
}

void own_label(benchmark::State& state, const Learner& learner, const Batch& lines) {
  PathState path_state;
  time_lines(state, lines, [&](const ExampleView& x) {
    learner.locate(x, learner.find(x), path_state);
    benchmark::DoNotOptimize(learner.predict(path_state));
  });
}

}  // namespace
}  // namespace cpt

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 3) {
    std::fputs("usage: cpt_predict_bench [benchmark options] MODEL SHARDS...\n", stderr);
    return 2;
  }
  const cpt::Model model = cpt::Model::load(argv[1]);
  const cpt::Learner& learner = model.learner();
  const cpt::Batch lines = cpt::read_lines({argv + 2, argv + argc}, learner);
  if (lines.empty()) {
    std::fputs("no line has a label of the model\n", stderr);
    return 1;
  }
  std::printf("%llu labels, %zu lines, %.1f features a line\n", static_cast<unsigned long long>(model.labels()),
              lines.size(), static_cast<double>(lines.features()) / static_cast<double>(lines.size()));
  const std::map<std::string, std::function<void(benchmark::State&)>> questions = {
      {"top 1", [&](benchmark::State& state) { cpt::top_k(state, learner, lines, 1); }},
      {"top 5", [&](benchmark::State& state) { cpt::top_k(state, learner, lines, 5); }},
      {"own label", [&](benchmark::State& state) { cpt::own_label(state, learner, lines); }},
  };
  for (const auto& [name, ask] : questions) {
    benchmark::RegisterBenchmark(name.c_str(), ask)->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
