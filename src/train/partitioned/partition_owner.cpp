#include "train/partitioned/partition_owner.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/learning/losses.h"
#include "model/weights/scaling.h"

namespace cpt {

namespace {

constexpr std::size_t kTasksBetweenIdles = 512;

// The part of a path that lies in a partition; empty if it ends above.
std::span<const std::uint8_t> path_in(Partition partition, std::span<const std::uint8_t> path) {
  const std::size_t level = partition_level(partition);
  if (path.size() <= level) return {};
  return level < 2 ? path.subspan(level, 1) : path.subspan(2);
}

bool path_continues_below(Partition partition, std::span<const std::uint8_t> path) {
  const std::size_t level = partition_level(partition);
  return level < 2 && path.size() > level + 1;
}

}  // namespace

void StageResults::clear() {
  for (std::vector<PartialResult>& to_reader : partials) to_reader.clear();
  for (std::vector<Numbered>& to_reader : numbered) to_reader.clear();
  splits.clear();
}

PartitionOwner::PartitionOwner(Learner& learner, const Owners& owners, int rank, Roots roots)
    : learner_(learner),
      regressors_(learner.weights(), learner.options()),
      rank_(rank),
      roots_(roots),
      partitions_(owners.size()),
      fronts_(owners.size()),
      reported_(owners.size()) {
  for (Partition p = 0; p < partitions_in(fronts_); ++p) fronts_[p].top = top_header(p);
  adopt(owners);
}

std::vector<bool> PartitionOwner::leads() const {
  std::vector<bool> leads;
  for (std::size_t tree = 0; tree < learner_.trees().size(); ++tree)
    leads.push_back(owners_[root_partition(tree)] == rank_);
  return leads;
}

void PartitionOwner::adopt(const Owners& owners) {
  owners_ = owners;
  for (Partition p = 0; p < partitions_in(owners); ++p) {
    if (owners[p] != rank_ && !has_copy(p)) {
      partitions_[p].reset();
    } else if (!owns(p)) {
      partitions_[p] = make_learner(p);
    }
    if (!owns(p)) continue;
    fronts_[p].moved = partitions_[p]->moved();
    reported_[p] = rows_visited(p);
  }
  stages_ = stages_by(owners, roots_);
  begins_.fill(std::vector<bool>(owners.size()));
  begins_any_ = {};
  for (Partition p = 0; p < partitions_in(owners); ++p) {
    if (!owns(p) || partition_level(p) == 0 || stays_in_stage(partition_above(p), p)) continue;
    const auto stage = static_cast<std::size_t>(stages_[p]);
    begins_[stage][p] = begins_any_[stage] = true;
  }
}

std::unique_ptr<PartitionLearner> PartitionOwner::make_learner(Partition partition) const {
  const std::size_t tree = tree_of(partition);
  auto learner = std::make_unique<PartitionLearner>(partition, learner_.tree(tree), learner_.weights(),
                                                    learner_.options().of_tree(tree));
  if (has_copy(partition)) learner->before_training(before_copies_change_);
  return learner;
}

void PartitionOwner::before_copies_change(std::function<void(const PathState&)> hook) {
  before_copies_change_ = std::move(hook);
  for (Partition p = 0; p < partitions_in(owners_); ++p) {
    if (has_copy(p)) partitions_[p]->before_training(before_copies_change_);
  }
}

void PartitionOwner::refresh_copies() {
  for (Partition p = 0; p < partitions_in(owners_); ++p) {
    if (has_copy(p) && owners_[p] != rank_) partitions_[p] = make_learner(p);
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
      0, tasks.size(), [&](std::size_t i, PartitionRoute& route) { prepare(tasks[i], route); },
      [&](std::size_t i, PartitionRoute& route) {
        if (i + ExampleRecord::kAhead < tasks.size()) tasks[i + ExampleRecord::kAhead].example.prefetch();
        pass(tasks[i], route, results);
        if (i % kTasksBetweenIdles == kTasksBetweenIdles - 1) idle();
      });
}

// Without a known path there is nothing to prefetch: the label may be created earlier in this round.
void PartitionOwner::prepare(const PartitionTask& task, PartitionRoute& route) const {
  route.count = 0;
  if (task.kind == TaskKind::kKnown) find_route(task, route);
  if (route.count == 0) route.path_state.rows.clear();
}

void PartitionOwner::read_example(const PartitionTask& task, ScaledValues& room, ScaledExample& x) const {
  task.example.read(x);
  scale(task.example.rarities(), learner_.options().update == Update::kSafe, room, x);
}

void PartitionOwner::find_route(const PartitionTask& task, PartitionRoute& route) const {
  const auto path = task.example.path();
  read_example(task, route.path_state.room, route.path_state.example);
  NodeRegressors::begin(task.label, route.path_state);
  Partition at = task.partition;
  bool ends = false;
  for (auto positions = path_in(at, path); !positions.empty() && owns(at); positions = path_in(at, path)) {
    const BlockHeader& top = fronts_[at].top;
    regressors_.extend(top, positions, route.path_state);
    route.parts[route.count++] = {at, positions.size()};
    ends = !path_continues_below(at, path);
    if (ends || has_copy(at)) break;
    at = partition_below(at, top.level, positions.back());
  }
  if (route.count > 0) regressors_.finish_path(ends, route.path_state);
}

// With more than two children a node needs the contents of its block, which must be looked up: there a route serves
// prefetching only.
bool PartitionOwner::is_current(const PartitionRoute& route) const {
  bool leads = regressors_.arity() == 2 && route.count > 0;
  for (std::size_t i = 0; i < route.count; ++i)
    leads &= !fronts_[route.parts[i].partition].moved.holds(route.path_state.label);
  return leads;
}

void PartitionOwner::pass(const PartitionTask& task, PartitionRoute& route, StageResults& results) {
  switch (task.kind) {
    case TaskKind::kDraw:
      return pass_draw(task, results);
    case TaskKind::kSearch:
      return pass_search(task, results);
    case TaskKind::kKnown:
      return is_current(route) ? pass_all(task, route, results) : pass_known(task, results);
    case TaskKind::kInsert:
    case TaskKind::kOpen:
      return pass_new(task, results);
  }
}

// Through all partitions of its route at once.
void PartitionOwner::pass_all(const PartitionTask& task, PartitionRoute& route, StageResults& results) {
  PathState& path_state = route.path_state;
  if (learning_) {
    if (has_copy(task.partition) && before_copies_change_) before_copies_change_(path_state);
    regressors_.learn(path_state);
  } else {
    regressors_.predict(path_state);
  }
  std::size_t hop = 0;
  for (std::size_t i = 0; i < route.count; ++i) {
    const PartitionRoute::Part& part = route.parts[i];
    double probability = 1;
    for (const std::size_t end = hop + part.hops; hop < end; ++hop)
      probability *= regressors_.step_probability(path_state, hop);
    add_part(task, part.partition, probability, results);
    if (learning_) fronts_[part.partition].rows += part.hops * path_state.example.features.size();
  }
  if (learning_) count_rows(task, path_state.example.features.size());
}

// Through one partition after the other. If the rank that read the example knew that it goes on to another owner, that
// owner already has the example.
void PartitionOwner::pass_known(PartitionTask task, StageResults& results) {
  const auto path = task.example.path();
  ScaledExample x;
  read_example(task, room_, x);
  if (learning_) count_rows(task, x.features.size());
  for (Partition& at = task.partition;;) {
    PartitionLearner& partition = *partitions_[at];
    partition.locate(x, task.label, path_in(at, path), path_state_);
    const PartitionResult result = learning_ ? partition.learn(path_state_) : partition.predict(path_state_);
    add_part(task, at, result.probability, results);
    if (result.exit == 0) return;
    const bool sent = path_continues_below(at, path);
    const Partition above = at;
    at = partition.below(result.exit);
    if (stays_in_stage(above, at)) continue;
    if (!sent) send(task, results);
    return;
  }
}

void PartitionOwner::count_rows(const PartitionTask& task, std::size_t features) {
  if (has_copy(task.partition)) rows_below_copies_ += task.example.path().size() * features;
}

void PartitionOwner::add_part(const PartitionTask& task, Partition partition, double probability,
                              StageResults& results) const {
  const auto kind = partition_level(partition) == 2 ? PartialResult::Kind::kDeep : PartialResult::Kind::kUpper;
  const std::uint32_t part = part_number(task.slot, tree_of(partition), learner_.trees().size());
  results.partials[task.reader].emplace_back(part, kind, 0, probability);
}

void PartitionOwner::pass_new(const PartitionTask& task, StageResults& results) {
  PartitionLearner& partition = *partitions_[task.partition];
  InsertionState insertion{task.coins, task.disagreements};
  ScaledExample x;
  read_example(task, room_, x);
  const PartitionLearner::InsertResult joined = task.kind == TaskKind::kOpen
                                                    ? partition.open(x, task.label, task.split)
                                                    : partition.insert(x, task.label, insertion);
  fronts_[task.partition].moved = partition.moved();
  add_part(task, task.partition, joined.result.probability, results);
  if (joined.result.exit == 0) {
    results.splits.push_back(
        {task.label, joined.split, insertion.disagreements, static_cast<std::uint32_t>(tree_of(task.partition))});
    return;
  }
  PartitionTask next = task;
  next.kind = joined.split == kNoLabel ? TaskKind::kInsert : TaskKind::kOpen;
  next.split = joined.split;
  next.coins = insertion.coins;
  next.disagreements = insertion.disagreements;
  pass_below(next, joined.result.exit, results);
}

void PartitionOwner::pass_draw(const PartitionTask& task, StageResults& results) {
  DrawState draw_state{task.coins, task.probability};
  ScaledExample x;
  read_example(task, room_, x);
  const PartitionLearner::Drawn drawn = partitions_[task.partition]->draw(x, draw_state);
  if (drawn.exit == 0) {
    results.partials[task.reader].emplace_back(part_of(task), PartialResult::Kind::kDrawn, drawn.label,
                                               draw_state.probability);
    return;
  }
  PartitionTask next = task;
  next.coins = draw_state.random;
  next.probability = draw_state.probability;
  pass_below(next, drawn.exit, results);
}

// First here, because what is found here is a bound for other ranks: they get only what may hold a better label.
void PartitionOwner::pass_search(const PartitionTask& task, StageResults& results) {
  if (search_.order != task.order) search_ = {.order = task.order, .elsewhere = {}};
  search_.least = std::max(search_.least, task.least);
  ScaledExample x;
  read_example(task, room_, x);
  search_here(x, task, results);
  std::ranges::stable_sort(search_.elsewhere, std::greater(), &PartitionTask::probability);
  for (PartitionTask& next : search_.elsewhere) {
    if (next.probability < search_.least) break;
    next.least = search_.least;
    send(next, results);
  }
  search_.elsewhere.clear();
}

void PartitionOwner::search_here(const ScaledExample& x, const PartitionTask& task, StageResults& results) {
  if (task.probability < search_.least) return;
  const PartitionLearner& partition = *partitions_[task.partition];
  const PartitionLearner::SearchResult found = partition.search(x, task.probability, search_.least);
  search_.least = found.least;
  if (found.label != kNoLabel) {
    results.partials[task.reader].emplace_back(part_of(task), PartialResult::Kind::kFound, found.label,
                                               found.probability);
  }
  PartitionTask next = task;
  for (const PartitionLearner::SearchResult::Exit& exit : found.exits) {
    next.probability = exit.probability;
    next.partition = partition.below(exit.exit);
    if (stays_in_stage(task.partition, next.partition)) {
      search_here(x, next, results);
    } else {
      search_.elsewhere.push_back(next);
    }
  }
}

// To the partition below that an exit leads to.
void PartitionOwner::pass_below(PartitionTask task, std::uint8_t exit, StageResults& results) {
  const Partition above = task.partition;
  task.partition = partitions_[above]->below(exit);
  if (stays_in_stage(above, task.partition)) {
    pass(task, unknown_, results);
  } else {
    send(task, results);
  }
}

void PartitionOwner::send(const PartitionTask& task, StageResults& results) const {
  results.hops[static_cast<std::size_t>(owners_[task.partition])].append(task);
}

void PartitionOwner::forget_recent_labels(LabelId first) {
  for (Partition p = 0; p < partitions_in(owners_); ++p) {
    if (!owns(p)) continue;
    partitions_[p]->forget_recent_labels(first);
    fronts_[p].moved = partitions_[p]->moved();
  }
}

std::uint64_t PartitionOwner::rows_visited(Partition partition) const {
  return partitions_[partition]->rows_visited() + fronts_[partition].rows;
}

void PartitionOwner::take_loads(Stage stage, Loads& loads) {
  for (Partition p = 0; p < partitions_in(owners_); ++p) {
    if (!owns(p) || has_copy(p) || stages_[p] != stage) continue;
    const std::uint64_t visited = rows_visited(p);
    loads[p] += visited - std::exchange(reported_[p], visited);
  }
}

void add_direct_tasks(const std::vector<RoutedExample>& examples, Stage stage, const PartitionOwner& owner,
                      std::vector<PartitionTask>& tasks) {
  if (!owner.begins_any(stage)) return;
  for (const RoutedExample& example : examples) {
    for (const Partition partition : {example.level1, example.deep}) {
      if (partition == kNoPartition || !owner.begins(stage, partition)) continue;
      PartitionTask& task = tasks.emplace_back();
      task.order = example.order;
      task.slot = example.slot;
      task.reader = example.reader;
      task.label = example.label;
      task.partition = partition;
      task.example = example.example;
    }
  }
}

}  // namespace cpt
