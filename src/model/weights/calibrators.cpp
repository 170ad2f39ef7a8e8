#include "model/weights/calibrators.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr std::size_t kChunk = (std::size_t{2} << 20) / sizeof(Calibrator);  // those that fit a huge page

constexpr Calibrator first_calibrator() {
  Calibrator calibrator{};
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      calibrator.at(lane, number) = Calibrator::kFirst[number];
    }
  }
  return calibrator;
}

void divide_covariances(float by, Calibrator& calibrator) {
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t number = Calibrator::kAA; number < Calibrator::kNumbers; ++number) {
      calibrator.at(lane, number) /= by;
    }
  }
}

// Hashes one number of all lanes after another. Lane 0 counts as one in its first state.
std::uint64_t digest_of(std::uint64_t key, const Calibrator& calibrator) {
  std::uint64_t digest = mix(key);
  for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
    digest = mix(digest ^ std::bit_cast<std::uint32_t>(Calibrator::kFirst[number]));
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      digest = mix(digest ^ std::bit_cast<std::uint32_t>(calibrator.at(lane, number)));
    }
  }
  return digest;
}

bool is_finite(const Calibrator& calibrator) {
  return std::ranges::all_of(calibrator.floats, [](float value) { return std::isfinite(value); });
}

}  // namespace

constinit const Calibrator kFirstCalibrator = first_calibrator();

void Calibrators::insert(const Slot& slot) {
  std::uint64_t i = slot.key >> 1;
  while (slots_[i & (slots_.size() - 1)].key != 0) ++i;
  slots_[i & (slots_.size() - 1)] = slot;
}

void Calibrators::make_index(std::size_t slots) {
  slots_.assign(slots, {});
  for (const std::vector<Slot>& part : parts_) {
    for (const Slot& slot : part) insert(slot);
  }
}

Calibrator* Calibrators::take_unused() {
  if (unused_.empty()) {
    Calibrator* const chunk = chunks_.emplace_back(make_zeroed<Calibrator>(kChunk, "calibrators")).get();
    for (std::size_t i = kChunk; i > 0; --i) unused_.push_back(chunk + i - 1);  // the first one is taken first
  }
  Calibrator* const calibrator = unused_.back();
  unused_.pop_back();
  return calibrator;
}

Calibrator& Calibrators::add(Partition partition, std::uint64_t key, float importance) {
  if (Calibrator* known = find(key)) return *known;
  const Slot slot{key, take_unused()};
  *slot.calibrator = kFirstCalibrator;
  if (importance > 1) divide_covariances(std::min(importance, Calibrator::kMostImportance), *slot.calibrator);
  parts_[partition].push_back(slot);
  if (++used_ * 2 > slots_.size()) {
    make_index(2 * slots_.size());
  } else {
    insert(slot);
  }
  return *slot.calibrator;
}

void Calibrators::clear(Partition partition) {
  used_ -= parts_[partition].size();
  for (const Slot& slot : parts_[partition]) unused_.push_back(slot.calibrator);
  parts_[partition].clear();
  make_index(slots_.size());
}

std::vector<std::uint64_t> Calibrators::keys(Partition partition) const {
  std::vector<std::uint64_t> keys;
  for (const Slot& slot : parts_[partition]) keys.push_back(slot.key);
  std::ranges::sort(keys);
  return keys;
}

std::uint64_t Calibrators::digest(Partition partition) const {
  std::uint64_t digest = 0;
  for (const Slot& slot : parts_[partition]) digest += digest_of(slot.key, *slot.calibrator);
  return digest;
}

bool Calibrators::finite(Partition partition) const {
  return std::ranges::all_of(parts_[partition], [](const Slot& slot) { return is_finite(*slot.calibrator); });
}

std::uint64_t Calibrators::bytes() const {
  return used_ * (sizeof(Calibrator) + sizeof(Slot)) + slots_.size() * sizeof(Slot);
}

}  // namespace cpt
