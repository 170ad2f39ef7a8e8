#include "train/setup/table_size.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "data/binary/binary_index.h"
#include "data/pipeline/example_stream.h"
#include "data/pipeline/shard_preview.h"
#include "model/rarity/feature_counts.h"
#include "model/weights/weight_table.h"
#include "train/host/host.h"
#include "train/placement/ownership.h"

namespace cpt {

namespace {

constexpr double kTextOfDefault = 30e6;  // bytes of text that suit the default table

// "2^22", "2 x 2^22" with two trees.
std::string rows_text(const ModelOptions& model, int bits) {
  return (model.trees == 1 ? "" : std::to_string(model.trees) + " x ") + "2^" + std::to_string(bits);
}

bool fits(const ModelOptions& model, int bits, TableUse use, const Communicator& comm, std::uint64_t free) {
  ModelOptions sized = model;
  sized.bits = bits;
  return table_bytes(sized, use, comm) <= free / 2;
}

// The memory that the ranks of this machine need.
struct Need {
  TableUse use;
  std::uint64_t open_shards;  // of each rank
  const Communicator& comm;

  std::uint64_t besides(const ModelOptions& model) const {
    return bytes_besides(model, open_shards) * static_cast<std::uint64_t>(ranks_on_this_host(comm));
  }
  bool fits(const ModelOptions& model, std::uint64_t free) const {
    return table_bytes(model, use, comm) + besides(model) <= free;
  }
};

std::string remedy(ModelOptions model, const Need& need, std::uint64_t free, Table table) {
  const std::string more = "use machines with more memory, or more of them";
  if (table == Table::kKept) return "it keeps its size, so " + more;
  while (model.bits > kLeastBits && !need.fits(model, free)) --model.bits;
  return need.fits(model, free) ? "--bits " + std::to_string(model.bits) + " would fit"
                                : "no --bits would fit: " + more;
}

// The bytes that RowsBefore takes on a rank for a table of this many bytes.
std::uint64_t share_of_rank(std::uint64_t bytes, const Communicator& comm) {
  return bytes / static_cast<std::uint64_t>(comm.size());
}

void check(const ModelOptions& model, const Need& need, std::uint64_t free, Table table) {
  if (need.fits(model, free)) return;
  throw Error(Fault::kFailed, "the weight table of " + rows_text(model, model.bits) + " rows takes " +
                                  share_of_memory(model, need.use, need.comm) + ", counts of features and buffers " +
                                  size_text(need.besides(model)) + ", and " + size_text(free) +
                                  " are free: " + remedy(model, need, free, table));
}

}  // namespace

std::uint64_t table_bytes(const ModelOptions& model, TableUse use, const Communicator& comm) {
  const int bits = model.table_bits();
  if (use == TableUse::kReplicated || use == TableUse::kOnlyRead) {
    const bool merges = use == TableUse::kReplicated && comm.size() > 1;
    const std::uint64_t table = (sizeof(Row) << bits) * static_cast<std::uint64_t>(model.trees);
    return (table + (merges ? share_of_rank(table, comm) : 0)) * static_cast<std::uint64_t>(ranks_on_this_host(comm));
  }
  const std::vector<Region> regions = divide_table(bits, model.trees);
  const Roots roots = use == TableUse::kHybrid ? Roots::kOnEveryRank : Roots::kOwned;
  const Owners owners = first_owners(comm.size(), model.trees, roots);
  const auto here = static_cast<std::uint64_t>(ranks_on_this_host(comm));
  std::uint64_t bytes = 0;
  for (Partition p = 0; p < partitions_in(regions); ++p) {
    if (roots == Roots::kOnEveryRank && partition_level(p) == 0) {
      const std::uint64_t copy = regions[p].rows * sizeof(Row);
      bytes += (copy + share_of_rank(copy, comm)) * here;
    } else if (comm.host_of(owners[p]) == comm.host()) {
      bytes += regions[p].rows * sizeof(Row);
    }
  }
  return bytes;
}

std::uint64_t bytes_besides(const ModelOptions& model, std::uint64_t open_shards) {
  const std::uint64_t counts = model.uses_rarity() ? FeatureCounts::bytes_of(model.table_bits()) : 0;
  return counts + most_line_buffers(open_shards);
}

std::string size_text(std::uint64_t bytes) {
  char text[32];
  const bool is_small = bytes < std::uint64_t{1} << 30;
  std::snprintf(text, sizeof text, is_small ? "%.1f MiB" : "%.1f GiB",
                static_cast<double>(bytes) * (is_small ? 0x1p-20 : 0x1p-30));
  return text;
}

std::string share_of_memory(const ModelOptions& model, TableUse use, const Communicator& comm) {
  const int here = ranks_on_this_host(comm);
  std::string takes = size_text(table_bytes(model, use, comm)) + " of this machine's memory";
  if (comm.size() == 1) return takes;
  takes += ", where " + std::to_string(here) + " of " + std::to_string(comm.size()) + " ranks run";
  if (use == TableUse::kPartitioned || use == TableUse::kHybrid) return takes;
  takes += ", each with the whole table";
  return use == TableUse::kOnlyRead ? takes : takes + " and a share of it as the last merge left it";
}

void require_memory(const ModelOptions& model, TableUse use, std::uint64_t open_shards, Communicator& comm,
                    std::optional<std::uint64_t> free, Table table) {
  run_on_all(comm, "start: memory", [&] {
    if (free) check(model, {use, open_shards, comm}, *free, table);
  });
}

// rows <= (bytes / 30 MB)^(3/4) * 2^22, to the fourth power: no rounding of a root differs from machine to machine.
int bits_for_text(std::uint64_t bytes) {
  const double share = static_cast<double>(bytes) / kTextOfDefault;
  const int default_bits = ModelOptions().bits;
  int bits = kLeastAutoBits;
  while (bits < kMostBits && std::ldexp(1.0, 4 * (bits + 1 - default_bits)) <= share * share * share) ++bits;
  return bits;
}

int wanted_bits(const std::vector<Shard>& shards, const ReadOptions& options, Communicator& comm) {
  std::uint64_t text = 0;
  double growth = 0;
  run_on_all(comm, "start: size of the table", [&] {
    for (auto i = static_cast<std::size_t>(comm.rank()); i < shards.size(); i += static_cast<std::size_t>(comm.size()))
      text += estimated_text_bytes(shards[i]);
    if (comm.rank() == 0) growth = growth_by_crosses(shards, options);
  });
  sum_in_rank_order(comm, {&text, 1}, "start: size of the table");
  sum_in_rank_order(comm, {&growth, 1}, "start: size of the table");
  text = static_cast<std::uint64_t>(static_cast<double>(text) * growth);
  const bool all_known = std::ranges::all_of(shards, [](const Shard& shard) { return shard.regular; });
  return all_known ? bits_for_text(text) : std::max(bits_for_text(text), kBitsOfPipes);
}

TableSize fitting_table(const ModelOptions& model, int wanted, TableUse use, Communicator& comm,
                        std::optional<std::uint64_t> free) {
  int mine = wanted;
  while (free && mine > kLeastBits && !fits(model, mine, use, comm, *free)) --mine;
  const std::vector<int> all = all_gather_value(comm, mine, "start: size of the table");
  const auto least = std::ranges::min_element(all);
  if (*least == wanted) return {wanted, ""};
  ModelOptions sized = model;
  sized.bits = wanted;
  const std::string why = (comm.size() > 1 ? rank_and_host(comm, comm.rank()) + ": " : "") +
                          "the data wants a weight table of " + rows_text(model, wanted) + " rows, which takes " +
                          share_of_memory(sized, use, comm) + "; as " + size_text(free.value_or(0)) +
                          " are free, of which half is for the table, it gets " + rows_text(model, *least) +
                          " rows (--bits says otherwise)";
  const auto tightest = static_cast<int>(least - all.begin());
  return {*least, broadcast_text(comm, why, tightest, "start: size of the table")};
}

}  // namespace cpt
