// Whether the weight table of a run fits into the machines it runs on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "comm/communicator.h"
#include "cpt/options.h"
#include "cpt/trainer.h"

namespace cpt {

// Bytes that this process and others may still take on this machine: what the kernel calls available, or what the
// control groups of this process allow in all, whichever is less. Nothing if the system does not tell. `root` is where
// the files of the system lie, for tests.
std::optional<std::uint64_t> free_memory(const std::filesystem::path& root = "/");

// The most bytes that this process has had in memory at a time; 0 if the system does not tell.
std::uint64_t peak_memory(const std::filesystem::path& root = "/");

// What ranks do with the table.
enum class TableUse : std::uint8_t {
  kPartitioned,  // each has a part of it
  kReplicated,   // each has all of it, and if there are several, beside each row that has changed what it held at the
                 // last merge (TouchedRows), in the end of all
  kOnlyRead,     // each has all of it, and changes nothing
};

// Bytes that the ranks on the machine of this one hold for the table, as long as nothing moves. Memory is taken as
// rows are used, in the end for all. The owner of the root never holds less than a sixteenth.
std::uint64_t table_bytes(const ModelOptions& model, TableUse use, const Communicator& comm);

// How many ranks run on the machine of this one.
int ranks_on_this_host(const Communicator& comm);

// In words, "8.0 GiB of this machine's memory, where 2 of 8 ranks run": what the table takes of it.
std::string share_of_memory(const ModelOptions& model, TableUse use, const Communicator& comm);
std::string gibibytes(std::uint64_t bytes);

// That of a model or of a checkpoint keeps its size.
enum class Table { kNew, kKept };

// All ranks call it, each with what is free on its machine, before any takes memory for the table. Throws on all the
// same Error(kFailed), which tells the numbers and how many --bits would do, if the table does not fit somewhere.
void require_memory(const ModelOptions& model, TableUse use, Communicator& comm, std::optional<std::uint64_t> free,
                    Table table = Table::kNew);

// That of the rank whose peak is the highest by now, on all ranks: each brings that of its summary.
MemoryUse largest_memory(MemoryUse mine, Communicator& comm);

}  // namespace cpt
