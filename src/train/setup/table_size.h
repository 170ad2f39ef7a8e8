// The size of a run's weight table: how much --bits auto chooses, and whether the table fits into memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/options.h"
#include "data/format/read_options.h"
#include "data/shards/shards.h"

namespace cpt {

inline constexpr int kLeastAutoBits = 18;  // 16 MiB
inline constexpr int kBitsOfPipes = 22;    // the minimum for data of unknown size

// How ranks hold the table.
enum class TableUse : std::uint8_t {
  kPartitioned,  // each rank holds a part
  kHybrid,       // the same, and copies of the roots' parts as with kReplicated
  kReplicated,   // each rank holds all rows and, on several ranks, its share of them as they were at the last merge
                 // (RowsBefore)
  kOnlyRead,     // each rank holds all rows and changes none
};

// The bytes that the ranks of this machine hold for the table until partitions move. Memory is taken as rows are used,
// which may become all of them. The owner of the root never holds less than a sixteenth.
std::uint64_t table_bytes(const ModelOptions& model, TableUse use, const Communicator& comm);

// The bytes that each rank holds besides the table, as far as they are known before it starts: the counts of features,
// and the buffers of the shards that it has open at a time. Tree, labels and calibrators grow with the labels, which
// nobody has counted.
std::uint64_t bytes_besides(const ModelOptions& model, std::uint64_t open_shards);

// The share of the table in words: "8.0 GiB of this machine's memory, where 2 of 8 ranks run".
std::string share_of_memory(const ModelOptions& model, TableUse use, const Communicator& comm);
// "8.0 GiB"; below one GiB, "52.0 MiB".
std::string size_text(std::uint64_t bytes);

// Whether the table is new, or that of a model or a checkpoint, whose size stays.
enum class Table { kNew, kKept };

// Checks that the table and bytes_besides() fit before any rank takes memory for them. Collective; each rank passes the
// memory that is free on its machine. If they do not fit somewhere, all ranks throw the same Error(kFailed), which
// names the figures and the --bits that would fit.
void require_memory(const ModelOptions& model, TableUse use, std::uint64_t open_shards, Communicator& comm,
                    std::optional<std::uint64_t> free, Table table = Table::kNew);

// The bits for this many bytes of text: 2^22 rows for 30 MB, and eight times as many for sixteen times the text. Data
// needs rows of an unbounded table at about this pace, and fills between one and two thirds of this one.
int bits_for_text(std::uint64_t bytes);

// The bits that suit the shards, regardless of ranks and machines. If crosses and n-grams make f times as many features
// of the first 1000 lines of a text, the text counts as f times as large. Collective, with the same arguments and the
// same result on all ranks; one rank reads the beginning of each shard. Throws AgreedError(kNoInput) (alone, Error).
int wanted_bits(const std::vector<Shard>& shards, const ReadOptions& options, Communicator& comm);

struct TableSize {
  int bits = 0;
  std::string warning;  // why bits are fewer than wanted; empty if they are not
};

// The most bits, up to the wanted ones, of a table that takes at most half of the free memory on each host; the other
// half is for the tree, labels, buffers and the file cache. Collective; each rank passes the memory that is free on its
// machine, and all get the same result.
TableSize fitting_table(const ModelOptions& model, int wanted, TableUse use, Communicator& comm,
                        std::optional<std::uint64_t> free);

}  // namespace cpt
