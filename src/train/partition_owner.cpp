#include "train/partition_owner.h"

#include <algorithm>

namespace cpt {

namespace {

constexpr std::size_t kVisitsBetweenIdles = 512;
// What arrived a step ago has left the caches.
constexpr std::size_t kRecordsAhead = 24;

// The part of a path that lies in a partition.
std::span<const std::uint8_t> places_in(Partition partition, std::span<const std::uint8_t> path) {
  if (path.empty()) return {};
  if (partition == kRootPartition) return path.first(1);
  return partition <= kLevel1Partitions ? path.subspan(1, 1) : path.subspan(2);
}

void add_part(const Visit& visit, double probability, StageResults& results) {
  if (visit.partition == kRootPartition) {
    results.root.push_back({visit.slot, probability});
  } else {
    const bool deep = visit.partition > kLevel1Partitions;
    results.findings.emplace_back(visit.slot, deep ? Finding::Kind::kDeep : Finding::Kind::kLevel1, 0, probability);
  }
}

}  // namespace

PartitionOwner::PartitionOwner(Learner& learner, const Owners& owners, int rank) : learner_(learner), rank_(rank) {
  adopt(owners);
}

void PartitionOwner::adopt(const Owners& owners) {
  owners_ = owners;
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners[p] != rank_) {
      partitions_[p].reset();
    } else if (!owns(p)) {
      partitions_[p] = std::make_unique<PartitionLearner>(p, learner_.tree(), learner_.weights(), learner_.options());
      reported_[p] = 0;
    }
  }
}

std::uint64_t PartitionOwner::structure_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& partition : partitions_) bytes += partition == nullptr ? 0 : partition->blocks().bytes();
  return bytes;
}

void PartitionOwner::run(const std::vector<Visit>& visits, bool learning, StageResults& results,
                         const std::function<void()>& idle) {
  std::size_t prepared = 0;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (i + kRecordsAhead < visits.size()) visits[i + kRecordsAhead].example.prefetch();
    for (; prepared < std::min(visits.size(), i + kAhead + 1); ++prepared) {
      prepare(visits[prepared], walks_[prepared % walks_.size()]);
    }
    pass(visits[i], learning, walks_[i % walks_.size()], results);
    if (i % kVisitsBetweenIdles == kVisitsBetweenIdles - 1) idle();
  }
}

// Who comes without places may lead to a label that joins only now.
void PartitionOwner::prepare(const Visit& visit, Walk& walk) const {
  if (visit.kind != VisitKind::kKnown) return;
  const auto places = places_in(visit.partition, visit.example.places());
  if (places.empty()) return;
  partitions_[visit.partition]->locate(visit.example.view(), visit.label, places, !visit.goes_on, walk);
  walk.ask_for_lines(walk.lines.size());
}

void PartitionOwner::pass(const Visit& visit, bool learning, Walk& walk, StageResults& results) {
  switch (visit.kind) {
    case VisitKind::kDraw:
      return pass_draw(visit, results);
    case VisitKind::kSearch:
      return pass_search(visit, results);
    case VisitKind::kKnown:
      return pass_known(visit, learning, walk, results);
    case VisitKind::kSettle:
    case VisitKind::kOpen:
      return pass_new(visit, results);
  }
}

void PartitionOwner::pass_known(const Visit& visit, bool learning, Walk& walk, StageResults& results) {
  PartitionLearner& partition = *partitions_[visit.partition];
  if (visit.example.places().empty()) partition.locate(visit.example.view(), visit.label, {}, false, walk);
  const Passage passage = learning ? partition.learn(walk) : partition.predict(walk);
  add_part(visit, passage.probability, results);
  if (passage.exit != 0 && !visit.goes_on) send_on(visit, passage.exit, results);
}

void PartitionOwner::pass_new(const Visit& visit, StageResults& results) {
  PartitionLearner& partition = *partitions_[visit.partition];
  Settling settling{visit.coins, visit.disagreements};
  const PartitionLearner::Joined joined = visit.kind == VisitKind::kOpen
                                              ? partition.open(visit.example.view(), visit.label, visit.split)
                                              : partition.settle(visit.example.view(), visit.label, settling);
  add_part(visit, joined.passage.probability, results);
  if (joined.passage.exit == 0) {
    results.changes.push_back({visit.label, joined.split, settling.disagreements});
    return;
  }
  Visit next = visit;
  next.kind = joined.split == kNoLabel ? VisitKind::kSettle : VisitKind::kOpen;
  next.split = joined.split;
  next.coins = settling.coins;
  next.disagreements = settling.disagreements;
  send_on(next, joined.passage.exit, results);
}

void PartitionOwner::pass_draw(const Visit& visit, StageResults& results) const {
  Drawing drawing{visit.coins, visit.probability};
  const std::uint8_t exit = partitions_[visit.partition]->draw(visit.example.view(), drawing);
  if (exit == 0) {
    results.findings.emplace_back(visit.slot, Finding::Kind::kDrawn, 0, drawing.probability);
    return;
  }
  Visit next = visit;
  next.coins = drawing.random;
  next.probability = drawing.probability;
  send_on(next, exit, results);
}

void PartitionOwner::pass_search(const Visit& visit, StageResults& results) const {
  const PartitionLearner::Found found = partitions_[visit.partition]->search(visit.example.view(), visit.probability);
  if (found.label != kNoLabel) {
    results.findings.emplace_back(visit.slot, Finding::Kind::kFound, found.label, found.probability);
  }
  Visit next = visit;
  for (const PartitionLearner::Found::Way& way : found.ways) {
    next.probability = way.probability;
    send_on(next, way.exit, results);
  }
}

void PartitionOwner::send_on(Visit visit, std::uint8_t exit, StageResults& results) const {
  visit.partition = partitions_[visit.partition]->below(exit);
  results.hops[static_cast<std::size_t>(owners_[visit.partition])].append(visit);
}

void PartitionOwner::forget_newcomers(LabelId first) {
  for (const auto& partition : partitions_) {
    if (partition) partition->forget_newcomers(first);
  }
}

Loads PartitionOwner::take_loads() {
  Loads loads{};
  for (Partition p = 0; p < kPartitions; ++p) {
    if (!owns(p)) continue;
    loads[p] = partitions_[p]->lines_visited() - reported_[p];
    reported_[p] += loads[p];
  }
  return loads;
}

void add_direct_visits(const std::vector<Arrival>& arrivals, Stage stage, const PartitionOwner& owner,
                       std::vector<Visit>& visits) {
  const bool deep = stage == Stage::kDeep;
  for (const Arrival& arrival : arrivals) {
    const Partition partition = deep ? arrival.deep : arrival.level1;
    if (partition == kNoPartition || !owner.owns(partition)) continue;
    visits.push_back({.order = arrival.order,
                      .slot = arrival.slot,
                      .label = arrival.label,
                      .goes_on = !deep && arrival.deep != kNoPartition,
                      .partition = partition,
                      .example = arrival.example});
  }
}

}  // namespace cpt
