// How large a weight table a run gets that does not say it (--bits auto).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/options.h"
#include "data/shards/shards.h"
#include "train/host/memory.h"

namespace cpt {

inline constexpr int kLeastAutoBits = 18;  // 16 MiB
inline constexpr int kBitsOfPipes = 22;    // where the size of the data is not known, at least

// For so many bytes of text: 2^22 rows for 30 MB, and eight times as many for sixteen times as much. The rows that
// data would use of a boundless table grow at about this pace, and fill between a third and two thirds of this one.
int bits_for_text(std::uint64_t bytes);

struct TableSize {
  int bits = 0;
  std::string warning;  // why it is not the wanted one; empty if it is
};

// Bits that the shards want, whatever the number of ranks and the machines: all ranks get the same. All call it with
// the same shards; of each shard one rank reads the first bytes. Throws AgreedError(kNoInput) (alone, Error).
int wanted_bits(const std::vector<Shard>& shards, Communicator& comm);

// The most bits, up to the wanted ones, whose table takes at most half of what is free on each host: the rest is for
// trees, labels, buffers and the cache of files. All ranks call it, each with what is free on its machine, and get the
// same.
TableSize fitting_table(const ModelOptions& model, int wanted, TableUse use, Communicator& comm,
                        std::optional<std::uint64_t> free);

}  // namespace cpt
