#include "model/weights/calibrators.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr Row row_of(float value) {
  Row row{};
  row.fill(value);
  return row;
}

std::uint64_t digest_of(std::uint64_t key, const Calibrator& calibrator) {
  std::uint64_t digest = mix(key);
  for (const Row& row : std::span(calibrator.rows(), Calibrator::kRows)) {
    for (const float value : row) digest = mix(digest ^ std::bit_cast<std::uint32_t>(value));
  }
  return digest;
}

bool is_finite(const Calibrator& calibrator) {
  return std::all_of(calibrator.rows(), calibrator.rows() + Calibrator::kRows, [](const Row& row) {
    return std::ranges::all_of(row, [](float value) { return std::isfinite(value); });
  });
}

}  // namespace

constinit const Calibrator kFirstCalibrator{row_of(1), row_of(0),    row_of(1.5F), row_of(0.1F), row_of(0),
                                            row_of(0), row_of(0.5F), row_of(0),    row_of(0.1F)};

void Calibrators::insert(const Slot& slot) {
  std::uint64_t i = slot.key >> 1;
  while (slots_[i & (slots_.size() - 1)].key != 0) ++i;
  slots_[i & (slots_.size() - 1)] = slot;
}

void Calibrators::make_index(std::size_t slots) {
  slots_.assign(slots, {});
  for (std::deque<Block>& part : parts_) {
    for (Block& block : part) insert({block.key, &block.calibrator});
  }
}

Calibrator& Calibrators::add(Partition partition, std::uint64_t key) {
  if (Calibrator* known = find(key)) return *known;
  Block& block = parts_[partition].emplace_back();
  block = {kFirstCalibrator, key};
  if (++used_ * 2 > slots_.size()) {
    make_index(2 * slots_.size());
  } else {
    insert({key, &block.calibrator});
  }
  return block.calibrator;
}

void Calibrators::clear(Partition partition) {
  used_ -= parts_[partition].size();
  parts_[partition].clear();
  make_index(slots_.size());
}

std::vector<std::uint64_t> Calibrators::keys(Partition partition) const {
  std::vector<std::uint64_t> keys;
  for (const Block& block : parts_[partition]) keys.push_back(block.key);
  std::ranges::sort(keys);
  return keys;
}

std::uint64_t Calibrators::digest(Partition partition) const {
  std::uint64_t digest = 0;
  for (const Block& block : parts_[partition]) digest += digest_of(block.key, block.calibrator);
  return digest;
}

bool Calibrators::finite(Partition partition) const {
  return std::ranges::all_of(parts_[partition], [](const Block& block) { return is_finite(block.calibrator); });
}

std::uint64_t Calibrators::bytes() const { return used_ * sizeof(Block) + slots_.size() * sizeof(Slot); }

}  // namespace cpt
