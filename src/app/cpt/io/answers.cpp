#include "app/cpt/io/answers.h"

#include <algorithm>
#include <string>

#include "api/process_cores.h"
#include "app/shared/option_values.h"

namespace cpt {

namespace {

constexpr std::size_t kMostThreads = 4096;

}  // namespace

CLI::Option* add_threads(CLI::App& command, std::size_t& threads) {
  threads = std::min(static_cast<std::size_t>(cores_of_process()), kMostThreads);
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
