// Examples a second on one rank: inside the training step, from parsed examples in memory, and from text to a written
// model.
//
//   cpt_train_bench [benchmark options] [SHARDS...]
//
// For the training step SHARDS are read once (files, directories, globs), at most two million examples of them; without
// any, a made stream of words stands in. One pass is one iteration, each on a fresh model. `rows` are those of the
// weight table that are read, changed and written in a second: cpt_memory_bench tells how many of them the machine can
// do, and tests/bench/memory_limit prints both.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cpt/hashing.h"
#include "cpt/trainer.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"
#include "model/learning/in_order.h"

namespace cpt {
namespace {

constexpr std::size_t kMostExamples = 2'000'000;
constexpr std::size_t kChunk = 1024;
constexpr int kBits = 24;                     // where nothing else is said
constexpr std::array kTableBits{22, 24, 26};  // 256 MiB, 1 GiB, 4 GiB

using Stream = std::vector<Batch>;

std::size_t examples_in(const Stream& stream) {
  std::size_t examples = 0;
  for (const Batch& batch : stream) examples += batch.size();
  return examples;
}

Stream read_stream(const std::vector<std::string>& patterns) {
  const std::vector<Shard> shards = find_shards(patterns);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < shards.size(); ++i) all.push_back(i);
  ExampleStream reader(shards, all, {});
  Stream stream(1);
  for (std::size_t read = 0; read < kMostExamples && reader.read(stream.back()); ++read) {
    if (stream.back().size() >= kChunk) stream.emplace_back();
  }
  return stream;
}

// Labels and words by a power law; a label shares words with its neighbours, so that there is something to learn.
Stream make_stream() {
  constexpr std::uint64_t kLabels = 30'000;
  constexpr std::size_t kWords = 10;
  const FeatureHasher hasher(1);
  Stream stream(1);
  std::uint64_t random = 1;
  const auto skewed = [&](std::uint64_t below) {
    random = mix(random + 0x9e3779b97f4a7c15ULL);
    const double uniform = static_cast<double>(random >> 11) * 0x1.0p-53;
    return static_cast<std::uint64_t>(static_cast<double>(below) * uniform * uniform * uniform);
  };
  for (std::size_t i = 0; i < kMostExamples / 4; ++i) {
    const std::uint64_t label = skewed(kLabels);
    for (std::size_t w = 0; w < kWords; ++w) {
      stream.back().add_feature(hasher.feature(0, std::to_string(label / 8 + skewed(1000))), 1);
    }
    stream.back().finish_example(std::to_string(label), 1, {});
    if (stream.back().size() >= kChunk) stream.emplace_back();
  }
  return stream;
}

// Writes to every page, and changes nothing.
void take_pages(WeightTable& table) {
  for (std::uint64_t i = 0; i < table.rows(); ++i) table.row(i)[0] = 0;
}

// Rows that are trained in a pass over the stream.
std::uint64_t rows_in(const Stream& stream, const ModelOptions& options) {
  Learner learner(options);
  InOrder in_order(learner);
  Losses losses;
  std::uint64_t rows = 0;
  in_order.before_training([&rows](const PathState& path_state) { rows += path_state.rows.size(); });
  for (const Batch& batch : stream) in_order.learn_online({&batch, 0, batch.size()}, losses);
  return rows;
}

void learn(benchmark::State& state, const Stream& stream, const ModelOptions& options) {
  const auto rows = static_cast<double>(rows_in(stream, options));
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    Learner learner(options);
    take_pages(learner.weights());
    InOrder in_order(learner);
    Losses losses;
    state.ResumeTiming();
    for (const Batch& batch : stream) in_order.learn_online({&batch, 0, batch.size()}, losses);
    state.counters["log_seen"] = losses.mean_log_seen();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(examples_in(stream)) * state.iterations());
  state.counters["rows"] =
      benchmark::Counter(rows * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

class SilentObserver : public Observer {
 public:
  void report(const Report&) override {}
  void warn(const std::string&) override {}
  void progress(std::uint64_t, double, double) override {}
};

void text_to_model(benchmark::State& state, const std::vector<std::string>& patterns) {
  TrainingOptions options;
  options.model.bits = kBits;
  options.data = patterns;
  const auto directory = std::filesystem::temp_directory_path() / ("cpt_train_bench." + std::to_string(getpid()));
  SilentObserver observer;
  std::uint64_t examples = 0;
  for ([[maybe_unused]] auto _ : state) {
    const TrainedModel result = train(options, observer);
    result.model.save(directory);
    examples += result.summary.train.examples;
  }
  std::filesystem::remove_all(directory);
  state.SetItemsProcessed(static_cast<std::int64_t>(examples));
}

}  // namespace
}  // namespace cpt

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const cpt::Stream stream = argc > 1 ? cpt::read_stream({argv + 1, argv + argc}) : cpt::make_stream();
  std::printf("%zu examples\n", cpt::examples_in(stream));
  const auto add = [&stream](const std::string& name, const cpt::ModelOptions& options) {
    benchmark::RegisterBenchmark((name + "/bits:" + std::to_string(options.bits)).c_str(),
                                 [&stream, options](benchmark::State& state) { cpt::learn(state, stream, options); })
        ->Unit(benchmark::kMillisecond);
  };
  for (const int bits : cpt::kTableBits) add("default", {.bits = bits});
  add("adaptive, not calibrated", {.update = cpt::Update::kAdaptive, .calibrate = false, .bits = cpt::kBits});
  add("squared, sgd", {.loss = cpt::Loss::kSquared, .update = cpt::Update::kSgd, .bits = cpt::kBits});
  const std::vector<std::string> patterns(argv + 1, argv + argc);
  if (!patterns.empty()) {
    benchmark::RegisterBenchmark("text to model", [&](benchmark::State& state) { cpt::text_to_model(state, patterns); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}
