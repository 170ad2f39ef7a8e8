#include "train/partitioned/partition_owner.h"

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
    results.partials.emplace_back(slot, deep ? PartialResult::Kind::kDeep : PartialResult::Kind::kLevel1, 0,
                                  probability);
  }
}

}  // namespace

PartitionOwner::PartitionOwner(Learner& learner, const Owners& owners, int rank)
    : learner_(learner), regressors_(learner.weights(), learner.options()), rank_(rank) {
  for (Partition p = 0; p < kPartitions; ++p) fronts_[p].top = top_header(p);
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
    reported_[p] = rows_visited(p);
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

void PartitionOwner::run(const std::vector<PartitionTask>& tasks, bool learning, StageResults& results,
                         const std::function<void()>& idle) {
  learning_ = learning;
  search_ = {};
  ahead_.each(
      0, tasks.size(), [&](std::size_t i, Way& way) { prepare(tasks[i], way); },
      [&](std::size_t i, Way& way) {
        if (i + ExampleRecord::kAhead < tasks.size()) tasks[i + ExampleRecord::kAhead].example.prefetch();
        ahead_.prefetch(1);
        pass(tasks[i], way, results);
        ahead_.prefetch(4);
        if (i % kVisitsBetweenIdles == kVisitsBetweenIdles - 1) idle();
      });
}

// Who comes without places may lead to a label that joins only now.
void PartitionOwner::prepare(const PartitionTask& task, Way& way) const {
  way.count = 0;
  if (task.kind == TaskKind::kKnown) find_way(task, way);
  if (way.count == 0) way.path_state.rows.clear();
}

void PartitionOwner::find_way(const PartitionTask& task, Way& way) const {
  const auto path = task.example.places();
  NodeRegressors::begin(task.example.view(), task.label, way.path_state);
  Partition at = task.partition;
  bool ends = false;
  for (auto places = places_in(at, path); !places.empty() && owns(at); places = places_in(at, path)) {
    const BlockHeader& top = fronts_[at].top;
    regressors_.extend(top, places, way.path_state);
    way.parts[way.count++] = {at, places.size()};
    ends = !goes_on_below(at, path);
    if (ends) break;
    at = partition_below(at, top.level, places.back());
  }
  if (way.count > 0) regressors_.finish_path(ends, way.path_state);
}

// Nodes of more ways than two are told by what hangs in their blocks, which takes looking up: for them a way serves to
// ask the memory only.
bool PartitionOwner::still_leads(const Way& way) const {
  bool leads = regressors_.arity() == 2 && way.count > 0;
  for (std::size_t i = 0; i < way.count; ++i)
    leads &= !fronts_[way.parts[i].partition].moved.holds(way.path_state.label);
  return leads;
}

void PartitionOwner::pass(const PartitionTask& task, Way& way, StageResults& results) {
  switch (task.kind) {
    case TaskKind::kDraw:
      return pass_draw(task, results);
    case TaskKind::kSearch:
      return pass_search(task, results);
    case TaskKind::kKnown:
      return still_leads(way) ? pass_all(task, way, results) : pass_known(task, results);
    case TaskKind::kSettle:
    case TaskKind::kOpen:
      return pass_new(task, results);
  }
}

// Through all partitions of its way at once.
void PartitionOwner::pass_all(const PartitionTask& task, Way& way, StageResults& results) {
  PathState& path_state = way.path_state;
  regressors_.predict(path_state);
  ahead_.prefetch(2);
  std::size_t hop = 0;
  for (std::size_t i = 0; i < way.count; ++i) {
    const Way::Part& part = way.parts[i];
    double probability = 1;
    for (const std::size_t end = hop + part.hops; hop < end; ++hop)
      probability *= regressors_.step_probability(path_state, hop);
    add_part(part.partition, task.slot, probability, results);
    if (learning_) fronts_[part.partition].rows += part.hops * path_state.example.features.size();
  }
  ahead_.prefetch(3);
  if (learning_) regressors_.train(path_state);
}

// Through one partition after the other. Where its origin knew that it goes on to another owner, that one has the
// example already.
void PartitionOwner::pass_known(PartitionTask task, StageResults& results) {
  const auto path = task.example.places();
  for (Partition& at = task.partition;;) {
    PartitionLearner& partition = *partitions_[at];
    partition.locate(task.example.view(), task.label, places_in(at, path), path_state_);
    const PartitionResult result = learning_ ? partition.learn(path_state_) : partition.predict(path_state_);
    add_part(at, task.slot, result.probability, results);
    if (result.exit == 0) return;
    const bool sent = goes_on_below(at, path);
    at = partition.below(result.exit);
    if (owns(at)) continue;
    if (!sent) send(task, results);
    return;
  }
}

void PartitionOwner::pass_new(const PartitionTask& task, StageResults& results) {
  PartitionLearner& partition = *partitions_[task.partition];
  InsertionState insertion{task.coins, task.disagreements};
  const PartitionLearner::InsertResult joined = task.kind == TaskKind::kOpen
                                                    ? partition.open(task.example.view(), task.label, task.split)
                                                    : partition.insert(task.example.view(), task.label, insertion);
  fronts_[task.partition].moved = partition.moved();
  add_part(task.partition, task.slot, joined.result.probability, results);
  if (joined.result.exit == 0) {
    results.changes.push_back({task.label, joined.split, insertion.disagreements});
    return;
  }
  PartitionTask next = task;
  next.kind = joined.split == kNoLabel ? TaskKind::kSettle : TaskKind::kOpen;
  next.split = joined.split;
  next.coins = insertion.coins;
  next.disagreements = insertion.disagreements;
  go_on(next, joined.result.exit, results);
}

void PartitionOwner::pass_draw(const PartitionTask& task, StageResults& results) {
  DrawState draw_state{task.coins, task.probability};
  const std::uint8_t exit = partitions_[task.partition]->draw(task.example.view(), draw_state);
  if (exit == 0) {
    results.partials.emplace_back(task.slot, PartialResult::Kind::kDrawn, 0, draw_state.probability);
    return;
  }
  PartitionTask next = task;
  next.coins = draw_state.random;
  next.probability = draw_state.probability;
  go_on(next, exit, results);
}

void PartitionOwner::pass_search(const PartitionTask& task, StageResults& results) {
  if (search_.order != task.order) search_ = {task.order, 0};
  if (task.probability < search_.least) return;
  const PartitionLearner::SearchResult found =
      partitions_[task.partition]->search(task.example.view(), task.probability, search_.least);
  search_.least = found.least;
  if (found.label != kNoLabel) {
    results.partials.emplace_back(task.slot, PartialResult::Kind::kFound, found.label, found.probability);
  }
  PartitionTask next = task;
  for (const PartitionLearner::SearchResult::Exit& way : found.exits) {
    next.probability = way.probability;
    go_on(next, way.exit, results);
  }
}

// To the partition below that an exit leads to.
void PartitionOwner::go_on(PartitionTask task, std::uint8_t exit, StageResults& results) {
  task.partition = partitions_[task.partition]->below(exit);
  if (owns(task.partition)) {
    pass(task, unknown_, results);
  } else {
    send(task, results);
  }
}

void PartitionOwner::send(const PartitionTask& task, StageResults& results) const {
  results.hops[static_cast<std::size_t>(owners_[task.partition])].append(task);
}

void PartitionOwner::forget_recent_labels(LabelId first) {
  for (Partition p = 0; p < kPartitions; ++p) {
    if (!owns(p)) continue;
    partitions_[p]->forget_recent_labels(first);
    fronts_[p].moved = partitions_[p]->moved();
  }
}

std::uint64_t PartitionOwner::rows_visited(Partition partition) const {
  return partitions_[partition]->rows_visited() + fronts_[partition].rows;
}

void PartitionOwner::take_loads(Stage stage, Loads& loads) {
  for (Partition p = 0; p < kPartitions; ++p) {
    if (!owns(p) || stages_[p] != stage) continue;
    const std::uint64_t visited = rows_visited(p);
    loads[p] += visited - std::exchange(reported_[p], visited);
  }
}

void add_direct_visits(const std::vector<RoutedExample>& routed_examples, Stage stage, const PartitionOwner& owner,
                       std::vector<PartitionTask>& tasks) {
  if (!owner.begins_any(stage)) return;
  for (const RoutedExample& arrival : routed_examples) {
    for (const Partition partition : {arrival.level1, arrival.deep}) {
      if (partition == kNoPartition || !owner.begins(stage, partition)) continue;
      PartitionTask& task = tasks.emplace_back();
      task.order = arrival.order;
      task.slot = arrival.slot;
      task.label = arrival.label;
      task.partition = partition;
      task.example = arrival.example;
    }
  }
}

}  // namespace cpt
