#include "train/merge/calibrator_merge.h"

#include <algorithm>

#include "comm/collectives.h"

namespace cpt {

namespace {

template <class T>
void append_values(const std::vector<std::byte>& bytes, std::vector<T>& values) {
  const std::vector<T> more = array_of<T>(bytes);
  values.insert(values.end(), more.begin(), more.end());
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
    const std::uint32_t block = blocks_.add(calibration.key);
    if (block == visited_.size()) visited_.push_back({.partition = calibration.partition});
    NodeVisits& visits = visited_[block].visits;
    const LaneTargets& targets = *path_state.targets[b];
    for (std::size_t i = 0; i < targets.count; ++i) visits[targets.nodes[i]] += targets.nodes[i] != 0 ? 1U : 0U;
  }
}

void CalibratorMerger::merge() {
  if (!learner_.options().calibrates()) return;
  std::uint64_t blocks = visited_.size();
  sum_in_rank_order(comm_, {&blocks, 1}, "merge: calibrators");
  const std::uint64_t segments = 1 + blocks * sizeof(Record) / segment_bytes_;
  for (std::uint64_t segment = 0; segment < segments; ++segment) merge_segment(segment, segments);
  blocks_.clear();
  visited_.clear();
}

void CalibratorMerger::merge_segment(std::uint64_t segment, std::uint64_t segments) {
  const std::vector<std::vector<Record>> mine = records_by_reducer(segment, segments);
  std::vector<ConstBytes> outgoing;
  for (const auto& records : mine) outgoing.push_back(std::as_bytes(std::span(records)));
  std::vector<Record> received;  // in rank order
  for (const auto& bytes : exchange(comm_, outgoing, "merge: calibrators")) append_values(bytes, received);
  const std::vector<Record> merged = reduce(received);
  std::vector<Record> all;
  for (const auto& bytes : all_gather_bytes(comm_, std::as_bytes(std::span(merged)), "merge: distribute calibrators")) {
    append_values(bytes, all);
  }
  for (const Record& record : all) {
    learner_.weights().calibrators().add(static_cast<Partition>(record.partition), record.key) =
        record.of_rank.calibrator;
  }
}

// The merged calibrators by ascending key. `received`: in rank order.
std::vector<CalibratorMerger::Record> CalibratorMerger::reduce(const std::vector<Record>& received) {
  std::vector<const Record*> by_key;
  for (const Record& record : received) by_key.push_back(&record);
  std::ranges::stable_sort(by_key, {}, &Record::key);
  std::vector<Record> merged;
  std::vector<const CalibratorOfRank*> ranks;
  for (std::size_t i = 0; i < by_key.size(); ++i) {
    ranks.push_back(&by_key[i]->of_rank);
    const bool is_last = i + 1 == by_key.size() || by_key[i + 1]->key != by_key[i]->key;
    if (!is_last) continue;
    merged.push_back({by_key[i]->key, by_key[i]->partition, {{}, merge_calibrators(ranks)}});
    ranks.clear();
  }
  return merged;
}

std::vector<std::vector<CalibratorMerger::Record>> CalibratorMerger::records_by_reducer(std::uint64_t segment,
                                                                                        std::uint64_t segments) const {
  const auto ranks = static_cast<std::uint64_t>(comm_.size());
  std::vector<std::vector<Record>> records(ranks);
  for (std::size_t i = 0; i < visited_.size(); ++i) {
    const std::uint64_t key = blocks_.keys()[i];
    if ((key >> 1) % segments != segment) continue;
    const Calibrator* calibrator = learner_.weights().calibrators().find(key);
    records[(key >> 32) % ranks].push_back(
        {key, visited_[i].partition, {visited_[i].visits, calibrator == nullptr ? kFirstCalibrator : *calibrator}});
  }
  return records;
}

}  // namespace cpt
