#include "crash/crash_calls.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

// The number of the checkpoint that a path leads into, finished or not.
std::optional<std::uint64_t> checkpoint_in(const fs::path& path) {
  const std::string text = path.string();
  const std::string folder = "/checkpoints/";
  const std::size_t at = text.find(folder);
  if (at == std::string::npos) return std::nullopt;
  return std::stoull(text.substr(at + folder.size()));
}

using Place = Calls::const_iterator;

Place first_on(const Calls& calls, std::uint64_t checkpoint) {
  return std::ranges::find_if(calls, [&](const Call& call) { return checkpoint_in(call.path) == checkpoint; });
}

}  // namespace

Calls read_calls(const fs::path& file) {
  Calls calls;
  std::map<std::string, std::uint64_t> counts;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    Call call;
    std::string path;
    std::istringstream words(line);
    words >> call.kind >> call.name >> path;
    call.path = path;
    call.number = ++counts[call.kind];
    calls.push_back(call);
  }
  return calls;
}

Calls of_kind(const Calls& calls, const std::string& kind) {
  Calls found;
  std::ranges::copy_if(calls, std::back_inserter(found), [&](const Call& call) { return call.kind == kind; });
  return found;
}

Calls of_checkpoint(const Calls& calls, std::uint64_t number) {
  return of_kind({first_on(calls, number), first_on(calls, number + 1)}, "file");
}

Calls outside_of_checkpoints(const Calls& calls) {
  const std::uint64_t last = count_checkpoints(calls);
  const auto is_on_last = [&](const Call& call) { return checkpoint_in(call.path) == last; };
  const Place end = std::find_if(calls.rbegin(), calls.rend(), is_on_last).base();
  Calls others(calls.begin(), first_on(calls, 1));
  others.insert(others.end(), end, calls.end());
  std::erase_if(others, [](const Call& call) { return call.name == "write" && call.path.filename() == "log.txt"; });
  return of_kind(others, "file");
}

std::uint64_t count_checkpoints(const Calls& calls) {
  std::uint64_t most = 0;
  for (const Call& call : calls) most = std::max(most, checkpoint_in(call.path).value_or(0));
  return most;
}

Calls spread(const Calls& calls, std::size_t count) {
  if (calls.size() <= count || count < 2) return calls;
  Calls chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(calls[i * (calls.size() - 1) / (count - 1)]);
  return chosen;
}

std::vector<std::string> names_of(const Calls& calls) {
  std::set<std::string> names;
  for (const Call& call : calls) names.insert(call.name);
  return {names.begin(), names.end()};
}

}  // namespace cpt::testing
