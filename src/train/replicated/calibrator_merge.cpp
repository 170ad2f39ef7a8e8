#include "train/replicated/calibrator_merge.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "comm/collectives.h"

namespace cpt {

namespace {

template <class T>
void append_values(const std::vector<std::byte>& bytes, std::vector<T>& values) {
  const std::size_t before = values.size();
  values.resize(before + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

}  // namespace

Calibrator merge_calibrators(std::span<const CalibratorOfRank* const> ranks) {
  Calibrator merged = ranks.front()->calibrator;
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    std::uint64_t visits = 0;
    for (const CalibratorOfRank* rank : ranks) visits += rank->visits[lane];
    if (visits == 0) continue;
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      double sum = 0;
      for (const CalibratorOfRank* rank : ranks) {
        sum += static_cast<double>(rank->visits[lane]) * static_cast<double>(rank->calibrator.at(lane, number));
      }
      merged.at(lane, number) = static_cast<float>(sum / static_cast<double>(visits));
    }
  }
  return merged;
}

CalibratorMerger::CalibratorMerger(Communicator& comm, Learner& learner, std::uint64_t segment_bytes)
    : comm_(comm), learner_(learner), segment_bytes_(segment_bytes) {}

void CalibratorMerger::touch(const PathState& path_state) {
  for (std::size_t b = 0; b < path_state.calibrations.size(); ++b) {
    const Calibration& calibration = path_state.calibrations[b];
    Visited& visited = visited_[calibration.key];
    visited.partition = calibration.partition;
    const LaneTargets& targets = *path_state.targets[b];
    for (std::size_t i = 0; i < targets.count; ++i) visited.visits[targets.nodes[i]] += targets.nodes[i] != 0 ? 1U : 0U;
  }
}

void CalibratorMerger::merge() {
  if (!learner_.options().calibrates()) return;
  std::uint64_t blocks = visited_.size();
  sum_in_rank_order(comm_, {&blocks, 1}, "merge: calibrators");
  const std::uint64_t segments = 1 + blocks * sizeof(Record) / segment_bytes_;
  for (std::uint64_t segment = 0; segment < segments; ++segment) merge_segment(segment, segments);
  visited_.clear();
}

void CalibratorMerger::merge_segment(std::uint64_t segment, std::uint64_t segments) {
  const std::vector<std::vector<Record>> mine = records_by_reducer(segment, segments);
  std::vector<ConstBytes> outgoing;
  for (const auto& records : mine) outgoing.push_back(std::as_bytes(std::span(records)));
  std::vector<Record> received;  // in rank order
  for (const auto& bytes : exchange(comm_, outgoing, "merge: calibrators")) append_values(bytes, received);
  std::map<std::uint64_t, std::vector<const CalibratorOfRank*>> ranks_by_key;
  std::map<std::uint64_t, std::uint64_t> partitions;
  for (const Record& record : received) {
    ranks_by_key[record.key].push_back(&record.its);
    partitions[record.key] = record.partition;
  }
  std::vector<Record> merged;
  for (const auto& [key, ranks] : ranks_by_key)
    merged.push_back({key, partitions[key], {{}, merge_calibrators(ranks)}});
  std::vector<Record> all;
  for (const auto& bytes : all_gather_bytes(comm_, std::as_bytes(std::span(merged)), "merge: distribute calibrators")) {
    append_values(bytes, all);
  }
  for (const Record& record : all) {
    learner_.weights().calibrators().add(static_cast<Partition>(record.partition), record.key) = record.its.calibrator;
  }
}

std::vector<std::vector<CalibratorMerger::Record>> CalibratorMerger::records_by_reducer(std::uint64_t segment,
                                                                                        std::uint64_t segments) const {
  const auto ranks = static_cast<std::uint64_t>(comm_.size());
  std::vector<std::vector<Record>> records(ranks);
  for (const auto& [key, visited] : visited_) {
    if ((key >> 1) % segments != segment) continue;
    const Calibrator* calibrator = learner_.weights().calibrators().find(key);
    records[(key >> 32) % ranks].push_back(
        {key, visited.partition, {visited.visits, calibrator == nullptr ? kFirstCalibrator : *calibrator}});
  }
  return records;
}

}  // namespace cpt
