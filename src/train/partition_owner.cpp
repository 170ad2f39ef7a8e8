#include "train/partition_owner.h"

#include <algorithm>
#include <utility>

namespace cpt {

namespace {

constexpr std::size_t kVisitsBetweenIdles = 512;

// The part of a path that lies in a partition; empty if it ends above.
std::span<const std::uint8_t> places_in(Partition partition, std::span<const std::uint8_t> path) {
  const std::size_t level = partition_level(partition);
  if (path.size() <= level) return {};
  return level < 2 ? path.subspan(level, 1) : path.subspan(2);
}

bool goes_on_below(Partition partition, std::span<const std::uint8_t> path) {
  const std::size_t level = partition_level(partition);
  return level < 2 && path.size() > level + 1;
}

void add_part(Partition partition, std::uint32_t slot, double probability, StageResults& results) {
  if (partition == kRootPartition) {
    StageResults::RootPart& part = results.root.emplace_back();
    part.slot = slot;
    part.value = probability;
  } else {
    const bool deep = partition > kLevel1Partitions;
    results.findings.emplace_back(slot, deep ? Finding::Kind::kDeep : Finding::Kind::kLevel1, 0, probability);
  }
}

}  // namespace

PartitionOwner::PartitionOwner(Learner& learner, const Owners& owners, int rank)
    : learner_(learner), regressors_(learner.weights(), learner.options()), rank_(rank) {
  for (Partition p = 0; p < kPartitions; ++p) fronts_[p].top = top_link(p);
  adopt(owners);
}

void PartitionOwner::adopt(const Owners& owners) {
  owners_ = owners;
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners[p] != rank_) {
      partitions_[p].reset();
    } else if (!owns(p)) {
      partitions_[p] = std::make_unique<PartitionLearner>(p, learner_.tree(), learner_.weights(), learner_.options());
    }
    if (!owns(p)) continue;
    fronts_[p].moved = partitions_[p]->moved();
    reported_[p] = lines_visited(p);
  }
  stages_ = stages_by(owners);
  begins_ = {};
  begins_any_ = {};
  for (Partition p = 1; p < kPartitions; ++p) {
    if (!owns(p) || owns(partition_above(p))) continue;
    const auto stage = static_cast<std::size_t>(stages_[p]);
    begins_[stage][p] = begins_any_[stage] = true;
  }
}

std::uint64_t PartitionOwner::structure_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& partition : partitions_) bytes += partition == nullptr ? 0 : partition->blocks().bytes();
  return bytes;
}

void PartitionOwner::run(const std::vector<Visit>& visits, bool learning, StageResults& results,
                         const std::function<void()>& idle) {
  learning_ = learning;
  search_ = {};
  ahead_.each(
      0, visits.size(), [&](std::size_t i, Way& way) { prepare(visits[i], way); },
      [&](std::size_t i, Way& way) {
        if (i + ExampleRecord::kAhead < visits.size()) visits[i + ExampleRecord::kAhead].example.prefetch();
        ahead_.ask(1);
        pass(visits[i], way, results);
        ahead_.ask(4);
        if (i % kVisitsBetweenIdles == kVisitsBetweenIdles - 1) idle();
      });
}

// Who comes without places may lead to a label that joins only now.
void PartitionOwner::prepare(const Visit& visit, Way& way) const {
  way.count = 0;
  if (visit.kind == VisitKind::kKnown) find_way(visit, way);
  if (way.count == 0) way.walk.lines.clear();
}

void PartitionOwner::find_way(const Visit& visit, Way& way) const {
  const auto path = visit.example.places();
  Regressors::begin(visit.example.view(), visit.label, way.walk);
  Partition at = visit.partition;
  bool ends = false;
  for (auto places = places_in(at, path); !places.empty() && owns(at); places = places_in(at, path)) {
    const BlockLink& top = fronts_[at].top;
    regressors_.extend(top, places, way.walk);
    way.parts[way.count++] = {at, places.size()};
    ends = !goes_on_below(at, path);
    if (ends) break;
    at = partition_below(at, top.level, places.back());
  }
  if (way.count > 0) regressors_.aim_at_end(ends, way.walk);
}

// Nodes of more ways than two are told by what hangs in their blocks, which takes looking up: for them a way serves to
// ask the memory only.
bool PartitionOwner::still_leads(const Way& way) const {
  bool leads = regressors_.ways() == 2 && way.count > 0;
  for (std::size_t i = 0; i < way.count; ++i) leads &= !fronts_[way.parts[i].partition].moved.holds(way.walk.label);
  return leads;
}

void PartitionOwner::pass(const Visit& visit, Way& way, StageResults& results) {
  switch (visit.kind) {
    case VisitKind::kDraw:
      return pass_draw(visit, results);
    case VisitKind::kSearch:
      return pass_search(visit, results);
    case VisitKind::kKnown:
      return still_leads(way) ? pass_all(visit, way, results) : pass_known(visit, results);
    case VisitKind::kSettle:
    case VisitKind::kOpen:
      return pass_new(visit, results);
  }
}

// Through all partitions of its way at once.
void PartitionOwner::pass_all(const Visit& visit, Way& way, StageResults& results) {
  Walk& walk = way.walk;
  regressors_.predict(walk);
  ahead_.ask(2);
  std::size_t hop = 0;
  for (std::size_t i = 0; i < way.count; ++i) {
    const Way::Part& part = way.parts[i];
    double probability = 1;
    for (const std::size_t end = hop + part.hops; hop < end; ++hop)
      probability *= regressors_.hop_probability(walk, hop);
    add_part(part.partition, visit.slot, probability, results);
    if (learning_) fronts_[part.partition].lines += part.hops * walk.example.features.size();
  }
  ahead_.ask(3);
  if (learning_) regressors_.train(walk);
}

// Through one partition after the other. Where its origin knew that it goes on to another owner, that one has the
// example already.
void PartitionOwner::pass_known(Visit visit, StageResults& results) {
  const auto path = visit.example.places();
  for (Partition& at = visit.partition;;) {
    PartitionLearner& partition = *partitions_[at];
    partition.locate(visit.example.view(), visit.label, places_in(at, path), walk_);
    const Passage passage = learning_ ? partition.learn(walk_) : partition.predict(walk_);
    add_part(at, visit.slot, passage.probability, results);
    if (passage.exit == 0) return;
    const bool sent = goes_on_below(at, path);
    at = partition.below(passage.exit);
    if (owns(at)) continue;
    if (!sent) send(visit, results);
    return;
  }
}

void PartitionOwner::pass_new(const Visit& visit, StageResults& results) {
  PartitionLearner& partition = *partitions_[visit.partition];
  Settling settling{visit.coins, visit.disagreements};
  const PartitionLearner::Joined joined = visit.kind == VisitKind::kOpen
                                              ? partition.open(visit.example.view(), visit.label, visit.split)
                                              : partition.settle(visit.example.view(), visit.label, settling);
  fronts_[visit.partition].moved = partition.moved();
  add_part(visit.partition, visit.slot, joined.passage.probability, results);
  if (joined.passage.exit == 0) {
    results.changes.push_back({visit.label, joined.split, settling.disagreements});
    return;
  }
  Visit next = visit;
  next.kind = joined.split == kNoLabel ? VisitKind::kSettle : VisitKind::kOpen;
  next.split = joined.split;
  next.coins = settling.coins;
  next.disagreements = settling.disagreements;
  go_on(next, joined.passage.exit, results);
}

void PartitionOwner::pass_draw(const Visit& visit, StageResults& results) {
  Drawing drawing{visit.coins, visit.probability};
  const std::uint8_t exit = partitions_[visit.partition]->draw(visit.example.view(), drawing);
  if (exit == 0) {
    results.findings.emplace_back(visit.slot, Finding::Kind::kDrawn, 0, drawing.probability);
    return;
  }
  Visit next = visit;
  next.coins = drawing.random;
  next.probability = drawing.probability;
  go_on(next, exit, results);
}

void PartitionOwner::pass_search(const Visit& visit, StageResults& results) {
  if (search_.order != visit.order) search_ = {visit.order, 0};
  if (visit.probability < search_.least) return;
  const PartitionLearner::Found found =
      partitions_[visit.partition]->search(visit.example.view(), visit.probability, search_.least);
  search_.least = found.least;
  if (found.label != kNoLabel) {
    results.findings.emplace_back(visit.slot, Finding::Kind::kFound, found.label, found.probability);
  }
  Visit next = visit;
  for (const PartitionLearner::Found::Way& way : found.ways) {
    next.probability = way.probability;
    go_on(next, way.exit, results);
  }
}

// To the partition below that an exit leads to.
void PartitionOwner::go_on(Visit visit, std::uint8_t exit, StageResults& results) {
  visit.partition = partitions_[visit.partition]->below(exit);
  if (owns(visit.partition)) {
    pass(visit, unknown_, results);
  } else {
    send(visit, results);
  }
}

void PartitionOwner::send(const Visit& visit, StageResults& results) const {
  results.hops[static_cast<std::size_t>(owners_[visit.partition])].append(visit);
}

void PartitionOwner::forget_newcomers(LabelId first) {
  for (Partition p = 0; p < kPartitions; ++p) {
    if (!owns(p)) continue;
    partitions_[p]->forget_newcomers(first);
    fronts_[p].moved = partitions_[p]->moved();
  }
}

std::uint64_t PartitionOwner::lines_visited(Partition partition) const {
  return partitions_[partition]->lines_visited() + fronts_[partition].lines;
}

void PartitionOwner::take_loads(Stage stage, Loads& loads) {
  for (Partition p = 0; p < kPartitions; ++p) {
    if (!owns(p) || stages_[p] != stage) continue;
    const std::uint64_t visited = lines_visited(p);
    loads[p] += visited - std::exchange(reported_[p], visited);
  }
}

void add_direct_visits(const std::vector<Arrival>& arrivals, Stage stage, const PartitionOwner& owner,
                       std::vector<Visit>& visits) {
  if (!owner.begins_any(stage)) return;
  for (const Arrival& arrival : arrivals) {
    for (const Partition partition : {arrival.level1, arrival.deep}) {
      if (partition == kNoPartition || !owner.begins(stage, partition)) continue;
      Visit& visit = visits.emplace_back();
      visit.order = arrival.order;
      visit.slot = arrival.slot;
      visit.label = arrival.label;
      visit.partition = partition;
      visit.example = arrival.example;
    }
  }
}

}  // namespace cpt
