// Blocks of binary shards, behind their checksums: what is read of a payload is in bounds, and a block made of it holds
// the same.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "data/binary_block.h"
#include "data/rejection.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

cpt::Batch read_all(std::span<const std::byte> payload) {
  cpt::BlockExamples block;
  block.read(payload);
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
    batch = read_all(std::as_bytes(std::span(data, size)));
  } catch (const cpt::DamagedStream&) {
    return 0;
  }
  if (batch.empty()) return 0;
  cpt::BlockBuilder builder;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    check_example(batch[i]);
    builder.add(batch[i], i == 0 || batch.origin(i).line != batch.origin(i - 1).line);
  }
  const cpt::Batch again = read_all(builder.encode());
  require(again.size() == batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) check_same(batch[i], again[i]);
  return 0;
}
