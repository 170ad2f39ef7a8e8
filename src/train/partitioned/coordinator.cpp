#include "train/partitioned/coordinator.h"

#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/learning/losses.h"

namespace cpt {

void RoundLedger::enter(const PartialResult& partial) {
  if (partial.slot >= entries.size()) {
    throw_protocol_error("a result of slot " + std::to_string(partial.slot) + " of " + std::to_string(entries.size()));
  }
  Entry& entry = entries[partial.slot];
  switch (partial.kind) {
    case PartialResult::Kind::kLevel1:
      entry.level1 = partial.value;
      return;
    case PartialResult::Kind::kDeep:
      entry.deep = partial.value;
      return;
    case PartialResult::Kind::kDrawn:
      entry.drawn = partial.value;
      return;
    case PartialResult::Kind::kFound: {
      const bool better = partial.value > entry.best_probability || entry.best == kNoLabel;
      const bool lower = partial.value == entry.best_probability && partial.label < entry.best;
      if (!better && !lower) return;
      entry.best = partial.label;
      entry.best_probability = partial.value;
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

LabelId Coordinator::find(const RoutedExample& example) const {
  if (example.label != kNoLabel) {
    if (example.label < learner_.tree().labels()) return example.label;
    throw_protocol_error("unknown label " + std::to_string(example.label));
  }
  const std::string_view name = example.example.label();
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

std::vector<PartitionTask> Coordinator::open(const std::vector<RoutedExample>& examples, bool learning,
                                             RoundLedger& ledger) {
  std::vector<PartitionTask> tasks;
  tasks.reserve(examples.size() + examples.size() / 8);
  ledger.entries.resize(examples.size());
  ledger.order.clear();
  ledger.first_number = numbered_ + 1;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i + ExampleRecord::kAhead < examples.size()) examples[i + ExampleRecord::kAhead].example.prefetch();
    const RoutedExample& example = examples[i];
    if (example.slot >= examples.size()) throw_protocol_error("unknown slot " + std::to_string(example.slot));
    const std::uint64_t number = ++numbered_;
    RoundLedger::Entry& entry = ledger.entries[example.slot];
    entry = {.importance = example.example.importance(), .label = find(example)};
    ledger.order.push_back(example.slot);
    entry.is_new = entry.label == kNoLabel;
    const auto add_task = [&](TaskKind kind) -> PartitionTask& {
      PartitionTask& task = tasks.emplace_back();
      task.order = example.order;
      task.slot = example.slot;
      task.label = entry.label;
      task.kind = kind;
      task.example = example.example;
      return task;
    };
    if (!entry.is_new) {
      entry.is_drawn = brier_due(number);
      entry.is_searched = top1_due(number);
      if (entry.is_drawn) add_task(TaskKind::kDraw).coins = draw_seed(learner_.options(), number);
      if (entry.is_searched) add_task(TaskKind::kSearch);
      add_task(TaskKind::kKnown);
    } else if (learning) {
      entry.label = add(example.example.label());
      add_task(TaskKind::kSettle).coins = begin_insertion(learner_.options(), entry.label).coins;
    }
  }
  return tasks;
}

void Coordinator::close(RoundLedger& ledger) {
  std::sort(ledger.splits.begin(), ledger.splits.end(),
            [](const Split& a, const Split& b) { return a.label < b.label; });
  auto split = ledger.splits.begin();
  std::uint64_t number = ledger.first_number;
  for (const std::uint32_t slot : ledger.order) {
    const RoundLedger::Entry& entry = ledger.entries[slot];
    if (entry.is_new && entry.label != kNoLabel) {
      if (split == ledger.splits.end()) throw_protocol_error("a new label without a split");
      apply(*split++, entry.label);
    }
    count(entry, number++);
    progress_.advance(1);
  }
  if (split != ledger.splits.end()) throw_protocol_error("a split of no new label");
}

void Coordinator::apply(const Split& split, LabelId label) {
  if (split.label != label || label != learner_.tree().labels()) {
    throw_protocol_error("a split of label " + std::to_string(split.label) + " instead of " + std::to_string(label));
  }
  if (split.split != kNoLabel && split.split >= label) {
    throw_protocol_error("label " + std::to_string(label) + " splits unknown label " + std::to_string(split.split));
  }
  TreeChange& change = unsent_.emplace_back(TreeChange{joining_.front(), split.split, split.disagreements});
  learner_.apply(change);
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

std::vector<TreeChange> Coordinator::take_changes() { return std::exchange(unsent_, {}); }

}  // namespace cpt
