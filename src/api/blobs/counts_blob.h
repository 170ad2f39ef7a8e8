// The frequencies of the method `table` as a blob.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/estimators/table.h"
#include "store/blob/blob_set.h"

namespace cpt {

// Written as
//   keys (u64), and for each key, ascending:
//   key (u64), labels (u32), and for each label, ascending: label (u32), units (u64)
// in the byte order of the machine, which is little-endian wherever this builds. Equal frequencies are equal bytes.
void write_counts(const Frequencies& frequencies, BlobWriter& blob);

// Adds all of it. Throws Error(kBadData) that begins with `name` where it is damaged, or has a label that is not below
// `labels`.
void read_counts(BlobReader& blob, const std::string& name, std::size_t labels, Frequencies& frequencies);
// The same of all of `packed`.
void unpack_counts(std::span<const std::byte> packed, const std::string& name, std::size_t labels,
                   Frequencies& frequencies);

}  // namespace cpt
