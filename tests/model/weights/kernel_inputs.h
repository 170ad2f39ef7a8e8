// Random rows, values and errors in the shapes that the kernels take.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/random_stream.h"
#include "model/weights/kernels.h"

namespace cpt {

struct alignas(64) AlignedRow {
  Row lanes{};
};

// Whether a lane is trained, and whether towards the right.
inline bool is_trained(const LaneTargets& targets, std::size_t lane) {
  return targets.index_of_lane[lane] != LaneTargets::kNotTrained;
}
inline bool is_right(const LaneTargets& targets, std::size_t lane) {
  return is_trained(targets, lane) && targets.towards[targets.index_of_lane[lane]] > 0;
}

inline Calibrator random_calibrator(Dice& dice) {
  Calibrator calibrator = kFirstCalibrator;
  for (std::size_t s = 1; s < kLanes; ++s) {
    calibrator.at(s, Calibrator::kA) = static_cast<float>(dice.between(-1, 2));
    calibrator.at(s, Calibrator::kB) = static_cast<float>(dice.between(-1, 1));
    calibrator.at(s, Calibrator::kC) = static_cast<float>(dice.between(-1, 2));
  }
  return calibrator;
}

// An example of F features in B blocks, with a table of F * B rows of its own; some (feature, block) share a row.
class KernelInputs {
 public:
  KernelInputs(std::size_t features, std::size_t blocks, std::uint64_t seed)
      : features_(features),
        blocks_(blocks),
        dice_(seed),
        table_(features * blocks),
        values_(features),
        scaled_(features) {
    for (float& value : values_) value = random(2);
    for (std::size_t f = 0; f < features; ++f) scaled_[f] = values_[f] * static_cast<float>(dice_.between(0, 3));
    for (AlignedRow& row : table_) {
      for (float& lane : row.lanes) lane = random(1);
      row.lanes[0] = static_cast<float>(dice_.unit());
    }
    for (std::size_t i = 0; i < table_.size(); ++i) rows_.push_back(table_[i].lanes.data());
    // Across blocks; inside a block a repeated row takes another order of sums, and has tests of its own.
    for (std::size_t b = 1; b < blocks; ++b) rows_[b * features] = rows_[0];
  }

  std::size_t features() const { return features_; }
  std::size_t blocks() const { return blocks_; }
  // As it is before training: PathRows::before is filled.
  PathRows path() {
    before_.assign(blocks_ * padded(features_), 0);
    for (std::size_t b = 0; b < blocks_; ++b) {
      for (std::size_t f = 0; f < features_; ++f) before_[b * padded(features_) + f] = row(b, f)[0];
    }
    return {rows_.data(), values_.data(), scaled_.data(), features_, blocks_, before_.data()};
  }
  float value(std::size_t feature) const { return values_[feature]; }
  float scaled(std::size_t feature) const { return scaled_[feature]; }
  void set_value(std::size_t feature, float value) { values_[feature] = value; }
  void repeat_row(std::size_t feature, std::size_t again) { rows_[again] = rows_[feature]; }

  const float* row(std::size_t block, std::size_t feature) const { return rows_[block * features_ + feature]; }
  // Which row of the table a (block, feature) has.
  std::size_t index(std::size_t block, std::size_t feature) const {
    const auto floats = static_cast<std::size_t>(row(block, feature) - table_[0].lanes.data());
    return floats / kLanes;
  }
  float* table(std::size_t index) { return table_[index].lanes.data(); }
  std::vector<std::array<double, kLanes>> table_in_double() const {
    std::vector<std::array<double, kLanes>> copy(table_.size());
    for (std::size_t i = 0; i < table_.size(); ++i) {
      for (std::size_t s = 0; s < kLanes; ++s) copy[i][s] = static_cast<double>(table_[i].lanes[s]);
    }
    return copy;
  }

  // By block; about a third of the lanes are not 0, and now and then none is.
  std::vector<Row> random_errors() {
    std::vector<Row> errors(blocks_);
    for (Row& row : errors) {
      const bool none = dice_.chance(0.1);
      for (std::size_t s = 1; s < kLanes; ++s) {
        row[s] = none || dice_.chance(0.7) ? 0.0F : random(0.5);
        row[0] += row[s] * row[s];
      }
    }
    return errors;
  }

 private:
  float random(double most) { return static_cast<float>(dice_.between(-most, most)); }

  std::size_t features_;
  std::size_t blocks_;
  Dice dice_;
  std::vector<AlignedRow> table_;
  std::vector<float> values_;
  std::vector<float> scaled_;
  std::vector<float*> rows_;   // [block][feature]
  std::vector<float> before_;  // PathRows::before
};

}  // namespace cpt
