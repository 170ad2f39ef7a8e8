#include "api/blobs/counts_blob.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/blobs/stored_bytes.h"
#include "cpt/error.h"

namespace cpt {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

template <class T>
void append(T value, std::vector<std::byte>& bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

// One key and its labels, which are distinct.
void read_entry(const StoredBytes& bytes, std::uint64_t key, std::size_t labels, const auto& refuse,
                Frequencies& frequencies) {
  const auto count = read_value<std::uint32_t>(bytes);
  if (count == 0) refuse("has a key without labels");
  LabelId least = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto label = read_value<LabelId>(bytes);
    const auto units = read_value<Units>(bytes);
    if (label < least || label >= labels || units == 0) refuse("makes no sense at label " + std::to_string(label));
    least = label + 1;
    frequencies.add(key, label, units);
  }
}

void read_all(const StoredBytes& bytes, const std::string& name, std::size_t labels, Frequencies& frequencies) {
  const auto refuse = [&](const std::string& what) { throw Error(Fault::kBadData, name + " " + what); };
  const auto keys = read_value<std::uint64_t>(bytes);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const auto key = read_value<std::uint64_t>(bytes);
    if (i > 0 && key <= before) refuse("has its keys in another order");
    before = key;
    read_entry(bytes, key, labels, refuse, frequencies);
  }
}

[[noreturn]] void refuse_rest(const std::string& name) {
  throw Error(Fault::kBadData, name + " has more than its keys");
}

}  // namespace

void write_counts(const Frequencies& frequencies, BlobWriter& blob) {
  std::vector<std::byte> bytes;
  append<std::uint64_t>(frequencies.keys(), bytes);
  for (const std::uint64_t key : frequencies.sorted_keys()) {
    const Frequencies::Entry& entry = *frequencies.find(key);
    append(key, bytes);
    append(static_cast<std::uint32_t>(entry.counts.size()), bytes);
    for (const Frequencies::Count& count : entry.counts) {
      append(count.label, bytes);
      append(count.units, bytes);
    }
    if (bytes.size() < kPiece) continue;
    blob.append(bytes);
    bytes.clear();
  }
  blob.append(bytes);
}

void read_counts(BlobReader& blob, const std::string& name, std::size_t labels, Frequencies& frequencies) {
  read_all([&](std::span<std::byte> out) { blob.read_exactly(out); }, name, labels, frequencies);
  std::byte rest;
  if (blob.read({&rest, 1}) != 0) refuse_rest(name);
}

void unpack_counts(std::span<const std::byte> packed, const std::string& name, std::size_t labels,
                   Frequencies& frequencies) {
  const auto refuse = [&] { throw Error(Fault::kBadData, name + " ends too early"); };
  read_all(front_of(packed, refuse), name, labels, frequencies);
  if (!packed.empty()) refuse_rest(name);
}

}  // namespace cpt
