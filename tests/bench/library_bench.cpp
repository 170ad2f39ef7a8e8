// Examples a second that cpt::Model learns from parsed examples in memory, for tests/bench/python_speed.
//
//   cpt_library_bench FILE BITS TIMES
//
// FILE is text in one format. Prints one rate for each of TIMES fresh models.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cpt/model.h"
#include "cpt/reader.h"

int main(int count, char** words) {
  if (count != 4) return std::fprintf(stderr, "usage: cpt_library_bench FILE BITS TIMES\n"), 2;
  constexpr std::size_t kTogether = 4096;
  cpt::ModelOptions options;
  options.bits = std::atoi(words[2]);
  cpt::ExampleReader reader(options);
  std::vector<cpt::Batch> batches(1, reader.make_batch());
  std::ifstream lines(words[1]);
  std::size_t examples = 0;
  for (std::string line; std::getline(lines, line);) {
    if (batches.back().size() >= kTogether) batches.push_back(reader.make_batch());
    examples += reader.read_line(line, batches.back());
  }
  for (int time = 0; time < std::atoi(words[3]); ++time) {
    cpt::Model model(options);
    const auto begin = std::chrono::steady_clock::now();
    for (const cpt::Batch& batch : batches) model.learn(batch);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.0f\n", static_cast<double>(examples) / seconds.count());
  }
  return 0;
}
