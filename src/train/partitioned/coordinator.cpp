#include "train/partitioned/coordinator.h"

#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/learning/losses.h"

namespace cpt {

void RoundLedger::clear(std::size_t examples, std::size_t trees) {
  entries.assign(examples, {});
  parts.assign(examples * trees, {});
  order.clear();
}

void RoundLedger::enter(const PartialResult& partial) {
  if (partial.part >= parts.size()) {
    throw_protocol_error("a result of number " + std::to_string(partial.part) + " of " + std::to_string(parts.size()));
  }
  Part& part = parts[partial.part];
  switch (partial.kind) {
    case PartialResult::Kind::kUpper:  // the product of two factors does not depend on their order
      part.upper *= partial.value;
      return;
    case PartialResult::Kind::kDeep:
      part.deep = partial.value;
      return;
    case PartialResult::Kind::kDrawn:
      part.drawn = {partial.label, partial.value};
      return;
    case PartialResult::Kind::kFound: {
      Ranked& best = entries[partial.part / trees()].best;
      const Ranked found{partial.label, partial.value};
      if (best.label == kNoLabel || ranks_before(found, best)) best = found;
      return;
    }
  }
}

void RoundLedger::enter_all(ConstBytes message) {
  const auto header = take_header<ResultHeader>(message);
  // No product of these counts can overflow: each is bounded by the bytes that are there.
  if (header.partials > message.size() / sizeof(PartialResult)) throw_protocol_error("results are missing");
  for (ConstBytes rest = take_bytes(message, header.partials * sizeof(PartialResult)); !rest.empty();) {
    enter(take_header<PartialResult>(rest));
  }
  if (message.size() != header.splits * sizeof(Split) || header.splits > message.size()) {
    throw_protocol_error("a message with bytes for other than its " + std::to_string(header.splits) + " splits");
  }
  while (!message.empty()) splits.push_back(take_header<Split>(message));
}

// Labels are numbered here before they are in the trees: on rank 0 close() inserts them, elsewhere the changes that
// rank 0 has sent.
void Coordinator::forget_joined() {
  for (; !joining_.empty() && first_joining_ < learner_.labels().size(); ++first_joining_) {
    numbers_.erase(joining_.front());
    joining_.pop_front();
  }
}

LabelId Coordinator::find(const RoutedExample& example) const {
  if (example.label != kNoLabel) {
    if (example.label < labels()) return example.label;
    throw_protocol_error("unknown label " + std::to_string(example.label));
  }
  const std::string_view name = example.example.label();
  const LabelId known = learner_.labels().find(name, hash_label(name));
  if (known != kNoLabel) return known;
  const auto leaf_split = numbers_.find(name);
  return leaf_split == numbers_.end() ? kNoLabel : leaf_split->second;
}

// All that have a number: a rank that reads may know more of them to be in the trees than this one.
std::uint64_t Coordinator::labels() const {
  return joining_.empty() ? learner_.labels().size() : first_joining_ + joining_.size();
}

LabelId Coordinator::add(std::string_view name) {
  const auto label = narrow<LabelId>(labels(), "the number of labels");
  if (joining_.empty()) first_joining_ = label;
  joining_.emplace_back(name);
  numbers_.emplace(joining_.back(), label);
  return label;
}

void Coordinator::enter(const RoutedExample& example, bool learning, RoundLedger::Entry& entry) {
  const std::uint64_t number = ++numbered_;
  entry = {.importance = example.example.importance(), .label = find(example), .best = {}};
  entry.is_new = entry.label == kNoLabel;
  entry.is_drawn = !entry.is_new && brier_due(number);
  entry.is_searched = !entry.is_new && top1_due(learner_.options(), number);
  if (entry.is_drawn) entry.coins = brier_seed(learner_.options(), number);
  if (entry.is_new && learning) entry.label = add(example.example.label());
}

void Coordinator::add_tasks(const RoutedExample& example, const RoundLedger::Entry& entry,
                            std::vector<PartitionTask>& tasks) const {
  const auto add_task = [&](TaskKind kind) -> PartitionTask& {
    PartitionTask& task = tasks.emplace_back();
    task.order = example.order;
    task.slot = example.slot;
    task.label = entry.label;
    task.kind = kind;
    task.partition = root_partition(example.tree);
    task.example = example.example;
    return task;
  };
  if (!entry.is_new) {
    if (entry.is_drawn) add_task(TaskKind::kDraw).coins = draw_seed(entry.coins, example.tree);
    if (entry.is_searched) add_task(TaskKind::kSearch);
    add_task(TaskKind::kKnown);
  } else if (entry.label != kNoLabel) {
    const std::uint64_t seed = learner_.options().of_tree(example.tree).seed;
    add_task(TaskKind::kSettle).coins = begin_insertion(seed, entry.label).coins;
  }
}

std::vector<PartitionTask> Coordinator::open(const std::vector<RoutedExample>& examples, std::size_t count,
                                             bool learning, RoundLedger& ledger) {
  forget_joined();
  std::vector<PartitionTask> tasks;
  tasks.reserve(examples.size() + examples.size() / 8);
  ledger.clear(count, leads_.size());
  ledger.first_number = numbered_ + 1;
  std::size_t led = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i + ExampleRecord::kAhead < examples.size()) examples[i + ExampleRecord::kAhead].example.prefetch();
    const RoutedExample& example = examples[i];
    if (example.slot >= count) throw_protocol_error("unknown slot " + std::to_string(example.slot));
    if (example.tree >= leads_.size()) throw_protocol_error("unknown tree " + std::to_string(example.tree));
    if (!leads_[example.tree]) continue;
    ++led;
    RoundLedger::Entry& entry = ledger.entries[example.slot];
    if (ledger.order.empty() || ledger.order.back() != example.slot) {  // else it came for another tree before
      ledger.order.push_back(example.slot);
      enter(example, learning, entry);
    }
    add_tasks(example, entry, tasks);
  }
  const auto roots = static_cast<std::size_t>(std::ranges::count(leads_, true));
  if (led != count * roots) {
    throw_protocol_error("the owner of " + std::to_string(roots) + " roots received " + std::to_string(led) + " of " +
                         std::to_string(count * roots) + " examples");
  }
  return tasks;
}

void Coordinator::close(RoundLedger& ledger) {
  std::ranges::sort(ledger.splits, {}, [](const Split& split) { return std::pair(split.label, split.tree); });
  std::span<const Split> splits = ledger.splits;
  std::uint64_t number = ledger.first_number;
  for (const std::uint32_t slot : ledger.order) {
    const RoundLedger::Entry& entry = ledger.entries[slot];
    if (entry.is_new && entry.label != kNoLabel) {
      if (splits.size() < leads_.size()) throw_protocol_error("a new label without a split");
      apply(splits.first(leads_.size()), entry.label);
      splits = splits.subspan(leads_.size());
    }
    count(ledger, slot, number++);
    progress_.advance(1);
  }
  if (!splits.empty()) throw_protocol_error("a split of no new label");
}

// Inserts the label into all trees.
void Coordinator::apply(std::span<const Split> splits, LabelId label) {
  forget_joined();
  TreeChange& change = unsent_.emplace_back(TreeChange{joining_.front(), {}, 0});
  for (std::size_t tree = 0; tree < splits.size(); ++tree) {
    const Split& split = splits[tree];
    if (split.label != label || label != learner_.labels().size() || split.tree != tree) {
      throw_protocol_error("a split of label " + std::to_string(split.label) + " in tree " +
                           std::to_string(split.tree) + " instead of label " + std::to_string(label) + " in tree " +
                           std::to_string(tree));
    }
    if (split.split != kNoLabel && split.split >= label) {
      throw_protocol_error("label " + std::to_string(label) + " splits unknown label " + std::to_string(split.split));
    }
    change.splits.push_back(split.split);
    change.disagreements += split.disagreements;
  }
  learner_.apply(change);
}

void Coordinator::count(const RoundLedger& ledger, std::uint32_t slot, std::uint64_t number) {
  Losses& losses = progress_.losses();
  const RoundLedger::Entry& entry = ledger.entries[slot];
  const std::span<const RoundLedger::Part> parts = ledger.parts_of(slot);
  // The products and the mean of TreeEstimator::predict, in its order.
  double p = 0;
  for (const RoundLedger::Part& part : parts) p += part.upper * part.deep;
  p /= static_cast<double>(parts.size());
  if (!std::isfinite(p)) throw_diverged();
  if (entry.is_new) {
    losses.add_new(entry.importance);
    return;
  }
  losses.add_seen(entry.importance, p);
  if (entry.is_drawn) {
    drawn_.clear();
    for (const RoundLedger::Part& part : parts) drawn_.push_back(part.drawn);
    losses.add_brier(brier_weight(entry.importance, number), p, squares_estimate(drawn_));
  }
  if (entry.is_searched) losses.add_top1(top1_weight(entry.importance), entry.best.label == entry.label);
}

std::vector<TreeChange> Coordinator::take_changes() { return std::exchange(unsent_, {}); }

}  // namespace cpt
