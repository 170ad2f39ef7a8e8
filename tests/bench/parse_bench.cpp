// How fast text becomes examples, on one core. Lines are like those of a language model: about 11 short features.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cpt/hashing.h"
#include "data/parsers/line_parser.h"
#include "data/pipeline/example_stream.h"
#include "data/pipeline/read_ahead.h"

namespace {

constexpr std::size_t kLines = 100'000;

std::string word(std::uint64_t& state) {
  static constexpr std::array<const char*, 8> kSyllables = {"the", "of", "an", "pla", "ce", "tre", "ats", "ing"};
  state = cpt::mix(state + 1);
  std::string text;
  for (std::uint64_t i = 0; i < 1 + state % 3; ++i) text += kSyllables.at(state >> (8 * i + 8) & 7U);
  return text;
}

std::string vw_line(std::uint64_t& state) {
  std::string line = word(state) + " |p 1=" + word(state) + " 2=" + word(state) + " 3=" + word(state) + " |b:0.5";
  for (int i = 0; i < 6; ++i) line += " " + word(state);
  return line + " |g " + word(state) + "_" + word(state);
}

std::string libsvm_line(std::uint64_t& state) {
  std::string line = std::to_string(state % 100);
  for (int i = 0; i < 11; ++i) {
    state = cpt::mix(state + 1);
    line += " " + std::to_string(state % 47'000) + ":0." + std::to_string(100'000 + state % 900'000);
  }
  return line;
}

std::string fasttext_line(std::uint64_t& state) {
  std::string line = "__label__" + word(state);
  for (int i = 0; i < 11; ++i) line += " " + word(state);
  return line;
}

// The features of a vw line.
std::string json_line(std::uint64_t& state) {
  const auto words = [&state](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "\"" : ", \"") + word(state) + "\"";
    return text;
  };
  const std::string label = word(state);
  return "{\"label\": \"" + label + "\", \"p\": [" + words(3) + "], \"b\": [" + words(6) + "], \"g\": [" + words(1) +
         "]}";
}

// The features of a vw line, in a table with the columns label, p, b and g.
std::string csv_line(std::uint64_t& state) {
  const auto words = [&state](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + word(state);
    return text;
  };
  const std::string label = word(state);
  return label + "," + words(3) + "," + words(6) + "," + words(1);
}

std::vector<std::string> lines_of(cpt::Format format) {
  std::uint64_t state = 1;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kLines; ++i) {
    lines.push_back(format == cpt::Format::kVw       ? vw_line(state)
                    : format == cpt::Format::kLibsvm ? libsvm_line(state)
                    : format == cpt::Format::kJson   ? json_line(state)
                    : format == cpt::Format::kCsv    ? csv_line(state)
                                                     : fasttext_line(state));
  }
  return lines;
}

// A parser alone, lines in memory.
void parse_lines(benchmark::State& state, cpt::Format format, const std::string& interaction) {
  const std::vector<std::string> lines = lines_of(format);
  cpt::ReadOptions options;
  if (!interaction.empty()) options.interactions = {interaction};
  const bool is_table = format == cpt::Format::kCsv;
  if (is_table) options.fields.text = {"p", "b", "g"};
  const auto parser = is_table ? cpt::make_csv_parser("label,p,b,g", options) : cpt::make_line_parser(format, options);
  std::size_t bytes = 0;
  for (const std::string& line : lines) bytes += line.size() + 1;
  cpt::Batch batch;
  for (auto _ : state) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i % 1024 == 0) batch.clear();
      parser->parse(lines[i], {0, i + 1}, batch);
    }
    benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines.size()));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

// The lines as `shards` files in a temporary folder.
class ShardFiles {
 public:
  explicit ShardFiles(std::size_t shards)
      : folder_(std::filesystem::temp_directory_path() / ("cpt_parse_bench_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    const std::vector<std::string> lines = lines_of(cpt::Format::kVw);
    for (std::size_t shard = 0; shard < shards; ++shard) {
      std::ofstream file(folder_ / std::to_string(shard));
      for (std::size_t i = shard; i < lines.size(); i += shards) file << lines[i] << '\n';
    }
  }
  ~ShardFiles() { std::filesystem::remove_all(folder_); }
  ShardFiles(const ShardFiles&) = delete;
  ShardFiles& operator=(const ShardFiles&) = delete;

  cpt::ExampleStream stream() const {
    const auto shards = cpt::find_shards({folder_.string()});
    return {shards, cpt::assign_shards(shards, 1)[0], {}};
  }

 private:
  std::filesystem::path folder_;
};

// Files to examples, in the thread that asks for them; range(0) shards.
void read_shards(benchmark::State& state) {
  const ShardFiles files(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    cpt::ExampleStream stream = files.stream();
    cpt::Batch batch = stream.make_batch();
    while (stream.read(batch)) {
      if (batch.size() == 1024) batch.clear();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLines));
}

// The same through the thread that parses ahead.
void read_ahead(benchmark::State& state) {
  const ShardFiles files(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    cpt::ReadAhead ahead(files.stream());
    while (const cpt::Batch* batch = ahead.next()) benchmark::DoNotOptimize(batch->size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLines));
}

BENCHMARK_CAPTURE(parse_lines, vw, cpt::Format::kVw, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_lines, vw_with_crosses, cpt::Format::kVw, "pb")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_lines, libsvm, cpt::Format::kLibsvm, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_lines, json, cpt::Format::kJson, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_lines, csv, cpt::Format::kCsv, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_lines, fasttext, cpt::Format::kFasttext, "")->Unit(benchmark::kMillisecond);
BENCHMARK(read_shards)->Arg(1)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK(read_ahead)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
