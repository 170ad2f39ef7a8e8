#include "train/host/table_size.h"

#include <algorithm>
#include <cmath>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "data/binary/binary_index.h"
#include "train/host/memory.h"

namespace cpt {

namespace {

constexpr double kTextOfDefault = 30e6;  // bytes, that want as many rows as the default
constexpr int kDefaultBits = ModelOptions().bits;

bool fits(const ModelOptions& model, int bits, TableUse use, const Communicator& comm, std::uint64_t free) {
  ModelOptions sized = model;
  sized.bits = bits;
  return table_bytes(sized, use, comm) <= free / 2;
}

}  // namespace

// rows <= (bytes / 30 MB)^(3/4) * 2^22, to the fourth power: no rounding of a root differs from machine to machine.
int bits_for_text(std::uint64_t bytes) {
  const double share = static_cast<double>(bytes) / kTextOfDefault;
  int bits = kLeastAutoBits;
  while (bits < kMostBits && std::ldexp(1.0, 4 * (bits + 1 - kDefaultBits)) <= share * share * share) ++bits;
  return bits;
}

int wanted_bits(const std::vector<Shard>& shards, Communicator& comm) {
  std::uint64_t text = 0;
  run_on_all(comm, "start: size of the table", [&] {
    for (auto i = static_cast<std::size_t>(comm.rank()); i < shards.size(); i += static_cast<std::size_t>(comm.size()))
      text += estimated_text_bytes(shards[i]);
  });
  sum_in_rank_order(comm, {&text, 1}, "start: size of the table");
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
                          "the data wants a weight table of 2^" + std::to_string(wanted) + " rows, which takes " +
                          share_of_memory(sized, use, comm) + "; as " + gibibytes(free.value_or(0)) +
                          " are free, of which half is for the table, it gets 2^" + std::to_string(*least) +
                          " rows (--bits says otherwise)";
  const auto tightest = static_cast<int>(least - all.begin());
  return {*least, broadcast_text(comm, why, tightest, "start: size of the table")};
}

}  // namespace cpt
