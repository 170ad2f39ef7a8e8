// Blocks of binary shards, behind their checksums: what is read of a payload is in bounds, and a block made of it holds
// the same.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "data/binary/block_builder.h"
#include "data/binary/block_examples.h"
#include "data/format/parse_error.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// What a payload may refer to.
std::vector<cpt::FeatureHash> some_list() {
  std::vector<cpt::FeatureHash> list(1000);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = (i + 1) * 0x9e3779b97f4a7c15ULL;
  return list;
}

cpt::Batch read_all(std::span<const std::byte> payload, std::span<const cpt::FeatureHash> list) {
  std::uint64_t digest = 0;  // as it says itself
  if (payload.size() >= sizeof digest) std::memcpy(&digest, payload.data(), sizeof digest);
  cpt::BlockExamples block;
  block.read(payload, list, digest);
  cpt::Batch batch;
  for (std::uint64_t line = 1; block.examples_left() > 0; ++line) {
    for (std::size_t left = block.examples_of_line(); left > 0; --left) block.append({0, line, line - 1, 0, 0}, batch);
  }
  return batch;
}

void check_example(const cpt::ExampleView& x) {
  require(x.features.size() == x.values.size() && x.features[0] == cpt::kConstantFeature);
  require(std::isfinite(x.importance) && x.importance > 0);
  for (const float value : x.values) require(std::isfinite(value));
}

void check_same(const cpt::ExampleView& a, const cpt::ExampleView& b) {
  require(a.label == b.label && a.importance == b.importance && a.origin == b.origin);
  require(std::equal(a.features.begin(), a.features.end(), b.features.begin(), b.features.end()));
  require(std::memcmp(a.values.data(), b.values.data(), a.values.size_bytes()) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cpt::Batch batch;
  try {
    batch = read_all(std::as_bytes(std::span(data, size)), some_list());
  } catch (const cpt::CorruptInput&) {
    return 0;
  }
  if (batch.empty()) return 0;
  cpt::BlockBuilder builder;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    check_example(batch[i]);
    builder.add(batch[i], i == 0 || batch.origin(i).line != batch.origin(i - 1).line);
  }
  cpt::FeatureList list;
  const cpt::EncodedBlock encoded = builder.encode(list);
  const cpt::Batch again = read_all(encoded.payload, list.numbers.keys());
  require(again.size() == batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) check_same(batch[i], again[i]);
  return 0;
}
