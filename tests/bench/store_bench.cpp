// Writing and reading a weight table as a blob: 256 MiB of 64-byte lines in which about half of the 16 floats are zero.
// Writing includes the wait for the disk; reading comes from the page cache.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "store/blob/blob_set.h"

namespace {

constexpr std::size_t kTableBytes = std::size_t{256} << 20;
constexpr const char* kKind = "benchmark";

std::vector<float> half_zero_weights() {
  std::mt19937_64 random(1);
  std::normal_distribution<float> weight(0.0F, 0.1F);
  std::vector<float> weights(kTableBytes / sizeof(float));
  for (float& w : weights) w = (random() & 1) != 0 ? weight(random) : 0.0F;
  return weights;
}

// The table and a directory for it; made once, since drawing the weights takes longer than writing them.
class Fixture : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State&) override {
    if (weights_.empty()) weights_ = half_zero_weights();
    std::string name = (std::filesystem::temp_directory_path() / "cpt-store-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) root_ = name;
  }
  void TearDown(benchmark::State&) override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

 protected:
  std::filesystem::path directory() const { return root_ / "set"; }
  void write() const {
    cpt::BlobSetWriter writer(directory(), kKind);
    writer.add("weights").append(std::as_bytes(std::span(weights_)));
    writer.commit();
  }
  void report(benchmark::State& state) const {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTableBytes));
    state.counters["stored_share"] =
        static_cast<double>(std::filesystem::file_size(directory() / "weights")) / static_cast<double>(kTableBytes);
  }

 private:
  std::vector<float> weights_;
  std::filesystem::path root_;
};

BENCHMARK_DEFINE_F(Fixture, WriteBlob)(benchmark::State& state) {
  while (state.KeepRunning()) write();
  report(state);
}
BENCHMARK_REGISTER_F(Fixture, WriteBlob)->Unit(benchmark::kMillisecond)->UseRealTime();

BENCHMARK_DEFINE_F(Fixture, ReadBlob)(benchmark::State& state) {
  write();
  std::vector<std::byte> out(std::size_t{16} << 20);
  while (state.KeepRunning()) {
    cpt::BlobReader reader = cpt::BlobSetReader(directory(), kKind).open("weights");
    while (reader.read(out) != 0) benchmark::DoNotOptimize(out.data());
  }
  report(state);
}
BENCHMARK_REGISTER_F(Fixture, ReadBlob)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
