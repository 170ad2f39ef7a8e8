#include "train/host/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "cpt/trainer.h"
#include "model/weights/weight_table.h"
#include "train/placement/ownership.h"
#include "train/replicated/touched_rows.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// A line "NAME: 123 kB" of a file of the system, in bytes.
std::optional<std::uint64_t> field_of(const fs::path& path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes && name == field) return kibibytes << 10;
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

std::string remedy(ModelOptions model, TableUse use, const Communicator& comm, std::uint64_t free, Table table) {
  if (table == Table::kKept) return "it keeps its size, so use machines with more memory, or more of them";
  while (model.bits > kLeastBits && table_bytes(model, use, comm) > free) --model.bits;
  return "--bits " + std::to_string(model.bits) + " would fit";
}

void check(const ModelOptions& model, TableUse use, const Communicator& comm, std::uint64_t free, Table table) {
  if (table_bytes(model, use, comm) <= free) return;
  throw Error(Fault::kFailed, "the weight table of 2^" + std::to_string(model.bits) + " rows takes " +
                                  share_of_memory(model, use, comm) + ", and " + gibibytes(free) +
                                  " are free: " + remedy(model, use, comm, free, table));
}

}  // namespace

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  std::optional<std::uint64_t> bytes = field_of(root / "proc/meminfo", "MemAvailable:");
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

// Not getrusage(), which counts what the process that started this one had.
std::uint64_t peak_memory(const fs::path& root) { return field_of(root / "proc/self/status", "VmHWM:").value_or(0); }

std::uint64_t table_bytes(const ModelOptions& model, TableUse use, const Communicator& comm) {
  const int bits = model.table_bits();
  if (use != TableUse::kPartitioned) {
    const bool merges = use == TableUse::kReplicated && comm.size() > 1;
    const std::uint64_t of_row = sizeof(Row) + (merges ? TouchedRows::kBytesOfRow : 0);
    return (of_row << bits) * static_cast<std::uint64_t>(ranks_on_this_host(comm));
  }
  const std::array<Region, kPartitions> regions = divide_table(bits);
  const Owners owners = first_owners(comm.size());
  std::uint64_t bytes = 0;
  for (Partition p = 0; p < kPartitions; ++p) {
    if (comm.host_of(owners[p]) == comm.host()) bytes += regions[p].rows * sizeof(Row);
  }
  return bytes;
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

std::string share_of_memory(const ModelOptions& model, TableUse use, const Communicator& comm) {
  const int here = ranks_on_this_host(comm);
  std::string takes = gibibytes(table_bytes(model, use, comm)) + " of this machine's memory";
  if (comm.size() == 1) return takes;
  takes += ", where " + std::to_string(here) + " of " + std::to_string(comm.size()) + " ranks run";
  if (use == TableUse::kPartitioned) return takes;
  takes += ", each with the whole table";
  return use == TableUse::kOnlyRead ? takes : takes + " and what its rows held before they changed";
}

void require_memory(const ModelOptions& model, TableUse use, Communicator& comm, std::optional<std::uint64_t> free,
                    Table table) {
  run_on_all(comm, "start: memory", [&] {
    if (free) check(model, use, comm, *free, table);
  });
}

MemoryUse largest_memory(MemoryUse mine, Communicator& comm) {
  mine.rank = comm.rank();
  mine.peak_bytes = peak_memory();
  const std::vector<MemoryUse> all = all_gather_value(comm, mine, "end: memory");
  return *std::ranges::max_element(all, {}, &MemoryUse::peak_bytes);
}

}  // namespace cpt
