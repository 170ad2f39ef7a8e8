#include "app/answers.h"

#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>

#include "app/option_values.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostThreads = 4096;

// Those of its affinity mask; of all cores where the mask is too large to be asked for.
std::size_t cores_of_this_process() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<std::size_t>(CPU_COUNT(&cores));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

CLI::Option* add_threads(CLI::App& command, std::size_t& threads) {
  threads = std::min<std::size_t>(cores_of_this_process(), kMostThreads);
  const auto set = [&threads](const std::string& text) {
    threads = static_cast<std::size_t>(require_count("--threads", text, 1, kMostThreads));
  };
  return command
      .add_option_function<std::string>("--threads", set,
                                        "so many threads work, and the output is the same with any number of them")
      ->type_name("N")
      ->default_str("one for each core it may use");
}

}  // namespace cpt
