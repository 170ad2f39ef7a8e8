// How fast shards become examples, on one core: each argument (a file, a directory, a glob) is read in full, one
// shard's line after the other's, as a rank reads.
//
//   cpt_read_bench [benchmark options] SHARDS...
//
// With text and what `cpt convert` made of it as arguments, the ratio of their rates is what converting gains.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"

namespace cpt {
namespace {

constexpr std::size_t kChunk = 1024;

void read_shards(benchmark::State& state, const std::string& pattern) {
  const std::vector<Shard> shards = find_shards({pattern});
  std::uint64_t bytes = 0;
  for (const Shard& shard : shards) bytes += shard.bytes;
  std::uint64_t examples = 0;
  for ([[maybe_unused]] auto _ : state) {
    ExampleStream stream(shards, assign_shards(shards, 1)[0], {});
    Batch batch = stream.make_batch();
    while (stream.read(batch)) {
      if (batch.size() < kChunk) continue;
      examples += batch.size();
      batch.clear();
    }
    examples += batch.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(examples));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

}  // namespace
}  // namespace cpt

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    benchmark::RegisterBenchmark(argv[i], [pattern = std::string(argv[i])](benchmark::State& state) {
      cpt::read_shards(state, pattern);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
}
