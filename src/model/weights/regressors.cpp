#include "model/weights/regressors.h"

#include "cpt/hashing.h"
#include "model/weights/hadamard_code.h"

namespace cpt {

namespace {

constexpr std::uint64_t key_of_group(std::size_t group) { return mix(0x6c62272e07bb0142ULL + group) | 1; }

}  // namespace

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)) {}

inline void Regressors::find_rows(const ExampleView& x, std::uint64_t key, const Region& region, float** rows) const {
  cpt::find_rows(x.features, key, region, weights_->row(0), rows);
}

UpdateStep Regressors::step_of(PathState& path_state) {
  const ExampleView& x = path_state.example;
  UpdateStep update_step{.estimates = path_state.estimates.data(),
                         .targets = path_state.targets.data(),
                         .calibrators = nullptr,
                         .scratch = nullptr,
                         .squared_length = 1,
                         .importance = x.importance,
                         .loss = loss_,
                         .update = update_,
                         .rate = rate_};
  if (update_ == Update::kSafe) {
    const std::size_t rows = scratch_floats(x.features.size()) / kLanes;
    if (path_state.steps.size() < rows) path_state.steps.resize(rows);
    update_step.scratch = reinterpret_cast<float*>(path_state.steps.data());
  } else {
    update_step.squared_length = x.squared_length();
  }
  if (calibrators_ != nullptr) {
    path_state.learning.clear();
    for (Calibration& calibration : path_state.calibrations) {
      if (calibration.calibrator == nullptr) {
        calibration.calibrator = &calibrators_->add(calibration.partition, calibration.key, x.importance);
      }
      path_state.learning.push_back(calibration.calibrator);
    }
    update_step.calibrators = path_state.learning.data();
  }
  return update_step;
}

void Regressors::train(PathState& path_state) {
  const UpdateStep update_step = step_of(path_state);
  train_blocks(path_state.rows_of(path_state.estimates.size()), update_step);
}

NodeRegressors::NodeRegressors(WeightTable& weights, const ModelOptions& options)
    : Regressors(weights, options),
      clip_(options.clip),
      arity_(options.effective_arity()),
      targets_(targets_by_position(arity_)) {
  if (options.calibrates()) calibrators_ = &weights.calibrators();
}

void NodeRegressors::locate(const Blocks& blocks, bool at_leaf, PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  const std::size_t begin = path_state.targets.size();
  const std::size_t end = path_state.path.size();
  path_state.targets.resize(end);
  if (calibrators_ != nullptr) path_state.calibrations.resize(end);
  path_state.rows.resize(end * features);
  float** rows = path_state.rows.data() + begin * features;
  for (std::size_t i = begin; i < end; ++i, rows += features) {
    const auto [block, position] = path_state.path[i];
    const BlockHeader& header = blocks.header(block);
    find_rows(path_state.example, header.key, weights_->region(header.partition), rows);
    if (calibrators_ != nullptr)
      path_state.calibrations[i] = {header.key, header.partition, find_calibrator(header.key, position)};
    path_state.targets[i] = &targets_[position];
  }
  finish_path(at_leaf, path_state);
}

Calibrator* NodeRegressors::find_calibrator(std::uint64_t key, std::uint8_t position) const {
  Calibrator* const calibrator = calibrators_->find(key);
  if (calibrator != nullptr) {
    if (arity_ == 2) {
      calibrator->prefetch_above(position);
    } else {
      calibrator->prefetch();
    }
  }
  return calibrator;
}

void NodeRegressors::extend(const BlockHeader& top, std::span<const std::uint8_t> positions,
                            PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  const std::size_t begin = path_state.path.size();
  const std::size_t end = begin + positions.size();
  path_state.path.resize(end);
  path_state.targets.resize(end);
  if (calibrators_ != nullptr) path_state.calibrations.resize(end);
  path_state.rows.resize(end * features);
  const Region& region = weights_->region(top.partition);
  float** rows = path_state.rows.data() + begin * features;
  std::uint64_t key = top.key;
  for (std::size_t i = begin; i < end; ++i, rows += features) {
    const std::uint8_t position = positions[i - begin];
    find_rows(path_state.example, key, region, rows);
    if (calibrators_ != nullptr) path_state.calibrations[i] = {key, top.partition, find_calibrator(key, position)};
    path_state.path[i] = {kNotLookedUp, position};
    path_state.targets[i] = &targets_[position];
    key = key_below(key, position);
  }
}

void NodeRegressors::finish_path(bool at_leaf, PathState& path_state) const {
  path_state.at_leaf = at_leaf;
  if (at_leaf) path_state.targets.back() = &targets_at(arity_, path_state.path.back().position, true);
}

void NodeRegressors::make_room_for_estimates(PathState& path_state) const {
  // Even rows that were prefetched before: some may have left the first-level cache since.
  path_state.prefetch_rows();
  path_state.estimates.resize(path_state.path.size());
  path_state.sides.clear();
}

void NodeRegressors::learn(PathState& path_state) {
  if (calibrators_ == nullptr || arity_ != 2 || update_ != Update::kSafe) {
    predict(path_state);
    train(path_state);
    return;
  }
  make_room_for_estimates(path_state);
  const UpdateStep update_step = step_of(path_state);
  learn_path(path_state.rows_of(path_state.path.size()), update_step);
}

void NodeRegressors::predict(PathState& path_state) const {
  make_room_for_estimates(path_state);
  const std::size_t blocks = path_state.path.size();
  const Calibrator* const* calibrators = nullptr;
  if (calibrators_ != nullptr) {
    path_state.predicting.resize(blocks);
    for (std::size_t i = 0; i < blocks; ++i) {
      Calibration& calibration = path_state.calibrations[i];
      // The calibrator may have been added since the path was located.
      if (calibration.calibrator == nullptr) calibration.calibrator = calibrators_->find(calibration.key);
      path_state.predicting[i] = calibration.calibrator == nullptr ? &kFirstCalibrator : calibration.calibrator;
    }
    calibrators = path_state.predicting.data();
  }
  const PathRows rows = path_state.rows_of(blocks);
  // Wider nodes are decoded from all their lanes.
  if (calibrators != nullptr && arity_ == 2) {
    predict_path(rows, path_state.targets.data(), calibrators, path_state.estimates.data());
  } else {
    predict_blocks(rows, loss_, calibrators, path_state.estimates.data());
  }
}

void NodeRegressors::decode(const Blocks& blocks, std::size_t end, PathState& path_state) const {
  if (arity_ == 2) return;
  const std::size_t begin = path_state.sides.size();
  path_state.occupied.clear();
  for (std::size_t i = begin; i < end; ++i) {
    path_state.sides.push_back(path_state.estimates[i].right);
    path_state.occupied.push_back(blocks.nodes(path_state.path[i].block).occupied);
  }
  decode_columns(path_state.occupied.data(), end - begin, arity_, path_state.sides.data() + begin);
}

Row NodeRegressors::block_probabilities(const ScaledExample& x, const Blocks& blocks, BlockId block,
                                        std::vector<float*>& rows, const BlockHeader* next) const {
  Row right = block_estimate(x, blocks.header(block), rows, next).right;
  if (arity_ != 2) decode_columns(&blocks.nodes(block).occupied, 1, arity_, &right);
  return right;
}

Estimate NodeRegressors::block_estimate(const ScaledExample& x, const BlockHeader& block, std::vector<float*>& rows,
                                        const BlockHeader* next) const {
  rows.resize(x.features.size());
  find_rows(x, block.key, weights_->region(block.partition), rows.data());
  for (const float* row : rows) __builtin_prefetch(row);
  if (next != nullptr) prefetch(x, *next);
  Estimate estimate;
  const Calibrator* const by = calibrator(block);
  const PathRows path{rows.data(), x.values.data(), x.scaled.data(), x.values.size(), 1};
  predict_blocks(path, loss_, by == nullptr ? nullptr : &by, &estimate);
  return estimate;
}

const Calibrator* NodeRegressors::calibrator(const BlockHeader& block) const {
  if (calibrators_ == nullptr) return nullptr;
  const Calibrator* const learned = calibrators_->find(block.key);
  return learned == nullptr ? &kFirstCalibrator : learned;
}

void NodeRegressors::prefetch(const ExampleView& x, const BlockHeader& block) const {
  const Region& region = weights_->region(block.partition);
  for (FeatureHash feature : x.features) {
    __builtin_prefetch(weights_->row(WeightTable::index(feature, block.key, region)));
  }
}

LabelRegressors::LabelRegressors(WeightTable& weights, const ModelOptions& options)
    : Regressors(weights, options), whole_{0, weights.rows()} {}

void LabelRegressors::find_group(const ExampleView& x, std::size_t group, float** rows) const {
  find_rows(x, key_of_group(group), whole_, rows);
  for (std::size_t f = 0; f < x.features.size(); ++f) __builtin_prefetch(rows[f], 1, 3);
}

void LabelRegressors::predict(std::size_t count, PathState& path_state) const {
  const ExampleView& x = path_state.example;
  const std::size_t groups = groups_for(count);
  const std::size_t features = x.features.size();
  path_state.rows.resize(groups * features);
  path_state.estimates.resize(groups);
  if (groups > 0) find_group(x, 0, path_state.rows.data());
  PathRows one = path_state.rows_of(groups);
  one.blocks = 1;
  for (std::size_t group = 0; group < groups; ++group) {
    float** rows = path_state.rows.data() + group * features;
    // Prefetches the rows of the next group while this one is computed.
    if (group + 1 < groups) find_group(x, group + 1, rows + features);
    predict_blocks(one, loss_, nullptr, &path_state.estimates[group]);
    one.rows += features;
    one.before += padded(features);
  }
}

float LabelRegressors::weight(FeatureHash feature, std::size_t i) const {
  return Regressors::weight(feature, key_of_group(group_of(i)), whole_, lane_of(i));
}

}  // namespace cpt
