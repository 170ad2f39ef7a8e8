// The limit of training: how many rows of the weight table, drawn at random, this machine reads, changes and writes in
// a second, on one thread and on two, by the size of the table. All that learning adds to it is left out: addresses
// come from a counter, and a row's change is one multiply-add.
//
// Rows are prefetched some way ahead, in a table on huge pages, as a learner's are. Threads have a table together, a
// half each, as ranks have that own parts of it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "cpt/hashing.h"
#include "model/weights/weight_table.h"

namespace cpt {
namespace {

constexpr std::uint64_t kAhead = 64;
constexpr std::int64_t kRowsAtATime = 1 << 16;

// All pages are there before the clock runs.
std::unique_ptr<WeightTable> filled_table(int bits) {
  auto table = std::make_unique<WeightTable>(bits);
  for (std::uint64_t i = 0; i < table->rows(); ++i) table->row(i)[0] = 1;
  return table;
}

void change(float* row) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) row[lane] = row[lane] * 0.999F + 0.001F;
}

// The threads of one measurement share it: the first one makes it and takes it away.
class TableBench : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State& state) override {
    if (state.thread_index() == 0) table_ = filled_table(static_cast<int>(state.range(0)));
  }
  void TearDown(benchmark::State& state) override {
    if (state.thread_index() == 0) table_.reset();
  }

  void change_rows(benchmark::State& state) {
    const auto thread = static_cast<std::uint64_t>(state.thread_index());
    std::uint64_t number = 0;
    for ([[maybe_unused]] auto _ : state) {
      const std::uint64_t share = table_->rows() / static_cast<std::uint64_t>(state.threads());
      const auto row = [&](std::uint64_t i) { return table_->row(thread * share + mix(i + (thread << 40)) % share); };
      for (std::int64_t i = 0; i < kRowsAtATime; ++i, ++number) {
        __builtin_prefetch(row(number + kAhead), 1);
        change(row(number));
      }
    }
    state.SetItemsProcessed(state.iterations() * kRowsAtATime);
  }

 private:
  std::unique_ptr<WeightTable> table_;
};

BENCHMARK_DEFINE_F(TableBench, rows)(benchmark::State& state) { change_rows(state); }
BENCHMARK_REGISTER_F(TableBench, rows)
    ->ArgName("bits")
    ->Arg(14)
    ->Arg(18)
    ->Arg(20)
    ->Arg(22)
    ->Arg(24)
    ->Arg(26)
    ->ThreadRange(1, 2)
    ->UseRealTime();

}  // namespace
}  // namespace cpt

BENCHMARK_MAIN();
