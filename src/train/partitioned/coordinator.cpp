#include "train/partitioned/coordinator.h"

#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/learning/losses.h"

namespace cpt {

void RoundLedger::enter(const PartialResult& finding) {
  Entry& entry = entries[finding.slot];
  switch (finding.kind) {
    case PartialResult::Kind::kLevel1:
      entry.level1 = finding.value;
      return;
    case PartialResult::Kind::kDeep:
      entry.deep = finding.value;
      return;
    case PartialResult::Kind::kDrawn:
      entry.drawn = finding.value;
      return;
    case PartialResult::Kind::kFound: {
      const bool better = finding.value > entry.best_probability || entry.best == kNoLabel;
      const bool lower = finding.value == entry.best_probability && finding.label < entry.best;
      if (!better && !lower) return;
      entry.best = finding.label;
      entry.best_probability = finding.value;
      return;
    }
  }
}

LabelId Coordinator::find(const RoutedExample& arrival) const {
  if (arrival.label != kNoLabel) return arrival.label;
  const std::string_view name = arrival.example.label();
  const LabelId known = learner_.labels().find(name, hash_label(name));
  if (known != kNoLabel) return known;
  const auto leaf_split = numbers_.find(name);
  return leaf_split == numbers_.end() ? kNoLabel : leaf_split->second;
}

LabelId Coordinator::add(std::string_view name) {
  const auto label = narrow<LabelId>(learner_.tree().labels() + joining_.size(), "the number of labels");
  joining_.emplace_back(name);
  numbers_.emplace(joining_.back(), label);
  return label;
}

std::vector<PartitionTask> Coordinator::open(const std::vector<RoutedExample>& routed_examples, bool learning,
                                             RoundLedger& ledger) {
  std::vector<PartitionTask> tasks;
  tasks.reserve(routed_examples.size() + routed_examples.size() / 8);
  ledger.entries.resize(routed_examples.size());
  ledger.order.clear();
  ledger.first_number = numbered_ + 1;
  for (std::size_t i = 0; i < routed_examples.size(); ++i) {
    if (i + ExampleRecord::kAhead < routed_examples.size())
      routed_examples[i + ExampleRecord::kAhead].example.prefetch();
    const RoutedExample& arrival = routed_examples[i];
    const std::uint64_t number = ++numbered_;
    RoundLedger::Entry& entry = ledger.entries[arrival.slot];
    entry = {.importance = arrival.example.importance(), .label = find(arrival)};
    ledger.order.push_back(arrival.slot);
    entry.is_new = entry.label == kNoLabel;
    const auto add_visit = [&](TaskKind kind) -> PartitionTask& {
      PartitionTask& task = tasks.emplace_back();
      task.order = arrival.order;
      task.slot = arrival.slot;
      task.label = entry.label;
      task.kind = kind;
      task.example = arrival.example;
      return task;
    };
    if (!entry.is_new) {
      entry.is_drawn = brier_due(number);
      entry.is_searched = top1_due(number);
      if (entry.is_drawn) add_visit(TaskKind::kDraw).coins = draw_seed(learner_.options(), number);
      if (entry.is_searched) add_visit(TaskKind::kSearch);
      add_visit(TaskKind::kKnown);
    } else if (learning) {
      entry.label = add(arrival.example.label());
      add_visit(TaskKind::kSettle).coins = begin_insertion(learner_.options(), entry.label).coins;
    }
  }
  return tasks;
}

void Coordinator::close(RoundLedger& ledger) {
  std::sort(ledger.changes.begin(), ledger.changes.end(),
            [](const Split& a, const Split& b) { return a.label < b.label; });
  auto change = ledger.changes.begin();
  std::uint64_t number = ledger.first_number;
  for (const std::uint32_t slot : ledger.order) {
    const RoundLedger::Entry& entry = ledger.entries[slot];
    if (entry.is_new && entry.label != kNoLabel) {
      if (change == ledger.changes.end()) throw Error(Fault::kFailed, "a label has joined no tree");
      apply(*change++, entry.label);
    }
    count(entry, number++);
    progress_.advance(1);
  }
}

void Coordinator::apply(const Split& change, LabelId label) {
  if (change.label != label || label != learner_.tree().labels()) {
    throw Error(Fault::kFailed, "label " + std::to_string(label) + " was to join the tree and " +
                                    std::to_string(change.label) + " did");
  }
  TreeChange& told = untold_.emplace_back(TreeChange{joining_.front(), change.split, change.disagreements});
  learner_.apply(told);
  numbers_.erase(joining_.front());
  joining_.pop_front();
}

void Coordinator::count(const RoundLedger::Entry& entry, std::uint64_t number) {
  Losses& losses = progress_.losses();
  // The products of Estimator::predict, in its order.
  const double p = entry.root * entry.level1 * entry.deep;
  if (!std::isfinite(p)) throw_diverged();
  if (entry.is_new) {
    losses.add_new(entry.importance);
    return;
  }
  losses.add_seen(entry.importance, p);
  if (entry.is_drawn) losses.add_brier(brier_weight(entry.importance, number), p, entry.drawn);
  if (entry.is_searched) losses.add_top1(top1_weight(entry.importance, number), entry.best == entry.label);
}

std::vector<TreeChange> Coordinator::take_changes() { return std::exchange(untold_, {}); }

}  // namespace cpt
