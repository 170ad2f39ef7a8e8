#include "app/cpt/io/answers.h"

#include <algorithm>
#include <string>

#include "api/process_cores.h"
#include "app/shared/command_line.h"

namespace cpt {

namespace {

constexpr std::size_t kMostThreads = 4096;

}  // namespace

CLI::Option* add_threads(CLI::App& command, std::size_t& threads) {
  threads = std::min(static_cast<std::size_t>(cores_of_process()), kMostThreads);
  return add_count(command, "--threads", threads, 1, "Number of threads; the output does not depend on it",
                   kMostThreads)
      ->default_str("one per available core");
}

}  // namespace cpt
