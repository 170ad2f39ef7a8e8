#include "train/memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "comm/agreement.h"
#include "cpt/error.h"
#include "model/weight_table.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string unit; file >> name >> kibibytes && std::getline(file, unit);) {
    if (name == "MemAvailable:") return kibibytes << 10;
  }
  return std::nullopt;
}

// "max" is no number, so it sets no limit.
void lower_to(const fs::path& limit, std::optional<std::uint64_t>& bytes) {
  std::uint64_t number = 0;
  if (std::ifstream(limit) >> number) bytes = std::min(bytes.value_or(number), number);
}

// The limits of a group and of those it lies in; where these cannot be seen, as in a container, those of the top.
void lower_to_groups(const fs::path& mount, fs::path group, const char* file, std::optional<std::uint64_t>& bytes) {
  for (; group.has_relative_path(); group = group.parent_path()) {
    lower_to(mount / group.relative_path() / file, bytes);
  }
  lower_to(mount / file, bytes);
}

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) * 0x1p-30);
  return text;
}

int ranks_on_this_host(const Communicator& comm) {
  int count = 0;
  for (int rank = 0; rank < comm.size(); ++rank) count += comm.host_of(rank) == comm.host_of(comm.rank()) ? 1 : 0;
  return count;
}

void check(const ModelOptions& model, bool owned, int ranks_here, int ranks, std::uint64_t free) {
  const std::uint64_t needed = table_bytes(model, owned, ranks_here, ranks);
  if (needed <= free) return;
  ModelOptions smaller = model;
  while (smaller.bits > kLeastBits && table_bytes(smaller, owned, ranks_here, ranks) > free) --smaller.bits;
  throw Error(
      Fault::kFailed,
      "the weight table of 2^" + std::to_string(model.bits) + " lines takes " + gibibytes(needed) +
          " of this machine's memory" +
          (ranks > 1 ? ", where " + std::to_string(ranks_here) + " of " + std::to_string(ranks) + " ranks run" : "") +
          ", and " + gibibytes(free) + " are free: --bits " + std::to_string(smaller.bits) + " would fit");
}

}  // namespace

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  std::optional<std::uint64_t> bytes = available_memory(root);
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", or of older systems "4:memory:/a/b"
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (kind.empty()) lower_to_groups(root / "sys/fs/cgroup", group, "memory.max", bytes);
    if (kind == "memory") lower_to_groups(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes", bytes);
  }
  return bytes;
}

std::uint64_t table_bytes(const ModelOptions& model, bool owned, int ranks_here, int ranks) {
  const std::uint64_t table = std::uint64_t{sizeof(Line)} << model.table_bits();
  const auto here = static_cast<std::uint64_t>(ranks_here);
  return owned ? table / static_cast<std::uint64_t>(ranks) * here : table * here;
}

void require_memory(const ModelOptions& model, bool owned, Communicator& comm, std::optional<std::uint64_t> free) {
  together(comm, "start: memory", [&] {
    if (free) check(model, owned, ranks_on_this_host(comm), comm.size(), *free);
  });
}

}  // namespace cpt
