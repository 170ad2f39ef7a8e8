#include "train/host/host.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "api/process_cores.h"
#include "comm/collectives.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr int kMostCores = 4;

// The number after `name` in a file of lines like "NAME 123 kB".
std::optional<std::uint64_t> number_of(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> kibibytes_of(const fs::path& path, const std::string& name) {
  const std::optional<std::uint64_t> number = number_of(path, name);
  return number ? std::optional(*number << 10) : std::nullopt;
}

// Where a version of control groups keeps the figures of a group.
struct GroupFiles {
  const char* mount;
  const char* limit;
  const char* high;  // above it, the kernel slows the group down; null: there is no such file
  const char* use;
  const char* reclaimable;  // a name in memory.stat
};
constexpr GroupFiles kGroups2{"sys/fs/cgroup", "memory.max", "memory.high", "memory.current", "inactive_file"};
constexpr GroupFiles kGroups1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", nullptr, "memory.usage_in_bytes",
                              "total_inactive_file"};

// The use of a group includes cached files, which the kernel drops when memory is asked for.
void lower_to_group(const fs::path& group, const GroupFiles& files, std::optional<std::uint64_t>& bytes) {
  std::optional<std::uint64_t> limit;
  for (const char* name : {files.limit, files.high}) {
    std::uint64_t number = 0;
    if (name == nullptr || !(std::ifstream(group / name) >> number)) continue;  // "max" is no limit
    limit = std::min(limit.value_or(number), number);
  }
  if (!limit) return;
  std::uint64_t use = 0;
  std::ifstream(group / files.use) >> use;
  use -= std::min(use, number_of(group / "memory.stat", files.reclaimable).value_or(0));
  const std::uint64_t left = *limit - std::min(*limit, use);
  bytes = std::min(bytes.value_or(left), left);
}

// The group and those above it. In a container these are not visible, and the mount holds the container's own group.
void lower_to_groups(const fs::path& root, const GroupFiles& files, fs::path group,
                     std::optional<std::uint64_t>& bytes) {
  for (; group.has_relative_path(); group = group.parent_path()) {
    lower_to_group(root / files.mount / group.relative_path(), files, bytes);
  }
  lower_to_group(root / files.mount, files, bytes);
}

}  // namespace

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  std::optional<std::uint64_t> bytes = kibibytes_of(root / "proc/meminfo", "MemAvailable:");
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b", or "4:memory:/a/b" of version 1
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (kind.empty()) lower_to_groups(root, kGroups2, group, bytes);
    if (kind == "memory") lower_to_groups(root, kGroups1, group, bytes);
  }
  return bytes;
}

// getrusage() would count the memory of the process that started this one.
std::uint64_t peak_memory(const fs::path& root) {
  return kibibytes_of(root / "proc/self/status", "VmHWM:").value_or(0);
}

std::optional<FreeDisk> free_disk(std::filesystem::path directory) {
  std::error_code error;
  directory = std::filesystem::absolute(directory, error);
  while (!std::filesystem::exists(directory, error) && directory.has_relative_path())
    directory = directory.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(directory, error);
  return error ? std::nullopt : std::optional(FreeDisk{directory, space.available});
}

MemoryUse largest_memory(MemoryUse mine, Communicator& comm) {
  mine.rank = comm.rank();
  mine.peak_bytes = peak_memory();
  const std::vector<MemoryUse> all = all_gather_value(comm, mine, "end: memory");
  return *std::ranges::max_element(all, {}, &MemoryUse::peak_bytes);
}

int ranks_on_this_host(const Communicator& comm) {
  int count = 0;
  for (int rank = 0; rank < comm.size(); ++rank) count += comm.host_of(rank) == comm.host() ? 1 : 0;
  return count;
}

int cores_of_rank(const Communicator& comm) {
  const int share = get_nprocs() / ranks_on_this_host(comm);
  return std::clamp(std::min(cores_of_process(), share), 1, kMostCores);
}

int ranks_per_core(Communicator& comm) {
  struct Machine {
    cpu_set_t cores{};
    int ranks = 0;
  };
  const std::vector<cpu_set_t> masks = all_gather_value(comm, affinity_of_process(), "pass: cores");
  std::map<std::string, Machine> machines;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const cpu_set_t& mask = masks[static_cast<std::size_t>(rank)];
    if (CPU_COUNT(&mask) == 0) continue;
    Machine& machine = machines[comm.host_of(rank)];
    CPU_OR(&machine.cores, &machine.cores, &mask);
    ++machine.ranks;
  }
  int most = 1;
  for (const auto& [host, machine] : machines) {
    const int cores = CPU_COUNT(&machine.cores);
    most = std::max(most, (machine.ranks + cores - 1) / cores);
  }
  return most;
}

}  // namespace cpt
