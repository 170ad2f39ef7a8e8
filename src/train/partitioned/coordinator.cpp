#include "train/partitioned/coordinator.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "core/checked.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/learning/losses.h"

namespace cpt {

// Forgets the names of labels that have joined the trees. Labels get numbers before they join: PartitionedLoop::close()
// inserts them on rank 0, and TreeReplicator::apply_changes() elsewhere.
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

// The number of labels with a number, in the trees or not: the reading rank may know more of the trees than this rank.
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

bool Coordinator::opens(const RoutedExample& example) const {
  const bool leads = leads_[example.tree];
  if (!copies_of_) return leads;
  return example.label == kNoLabel ? leads : example.reader == *copies_of_;
}

void Coordinator::number(const RoutedExample& example, bool learning) {
  std::uint64_t number = 0;
  if (!copies_of_) {
    number = ++numbered_;
  } else if (example.label != kNoLabel) {
    number = numbered_ + example.slot + 1;
  }
  current_ = {.order = example.order, .number = number, .label = find(example)};
  current_.is_new = current_.label == kNoLabel;
  current_.is_sampled = number != 0 && !current_.is_new && is_sampled(number);
  if (current_.is_new && learning) current_.label = add(example.example.label());
}

// Tells the example's reader what it does not know, and all ranks that a report is due.
void Coordinator::announce(const RoutedExample& example, Opened& opened,
                           std::vector<std::vector<Numbered>>& numbered) const {
  if (current_.is_sampled || example.label == kNoLabel) {
    numbered[example.reader].push_back(
        {current_.is_sampled ? current_.number : 0, example.slot, current_.label, current_.is_new ? 1U : 0U});
  }
  if (!copies_of_ && std::has_single_bit(current_.number))
    opened.reports.push_back({current_.order, current_.number, labels()});
}

void Coordinator::add_tasks(const RoutedExample& example, std::vector<PartitionTask>& tasks) const {
  const auto add_task = [&](TaskKind kind) -> PartitionTask& {
    PartitionTask& task = tasks.emplace_back();
    task.order = example.order;
    task.slot = example.slot;
    task.reader = example.reader;
    task.label = current_.label;
    task.kind = kind;
    task.partition = root_partition(example.tree);
    task.example = example.example;
    return task;
  };
  const ModelOptions& options = learner_.options();
  if (!current_.is_new) {
    if (current_.is_sampled) {
      add_task(TaskKind::kDraw).coins = draw_seed(brier_seed(options, current_.number), example.tree);
      if (searches_best(options)) add_task(TaskKind::kSearch).least = kLeastTop1;
    }
    add_task(TaskKind::kKnown);
  } else if (current_.label != kNoLabel) {
    const std::uint64_t seed = options.of_tree(example.tree).seed;
    add_task(TaskKind::kInsert).coins = begin_insertion(seed, current_.label).coins;
  }
}

Coordinator::Opened Coordinator::open(const std::vector<RoutedExample>& examples, std::span<const std::uint64_t> counts,
                                      bool learning, std::vector<std::vector<Numbered>>& numbered) {
  forget_joined();
  Opened opened;
  opened.tasks.reserve(examples.size() + examples.size() / 8);
  std::uint64_t led = 0;
  bool is_first = true;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    if (i + ExampleRecord::kAhead < examples.size()) examples[i + ExampleRecord::kAhead].example.prefetch();
    const RoutedExample& example = examples[i];
    if (example.reader >= counts.size() || example.slot >= counts[example.reader]) {
      throw_protocol_error("unknown slot " + std::to_string(example.slot) + " of rank " +
                           std::to_string(example.reader));
    }
    if (example.tree >= leads_.size()) throw_protocol_error("unknown tree " + std::to_string(example.tree));
    if (!opens(example)) continue;
    ++led;
    if (is_first || current_.order != example.order) {  // else it came for another tree before
      is_first = false;
      number(example, learning);
      if (leads_.front() || (copies_of_ && example.label != kNoLabel)) announce(example, opened, numbered);
    }
    add_tasks(example, opened.tasks);
  }
  opened.labels = labels();
  if (copies_of_) {
    numbered_ += counts[*copies_of_];
    return opened;
  }
  const auto roots = static_cast<std::uint64_t>(std::ranges::count(leads_, true));
  const std::uint64_t count = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (led != count * roots) {
    throw_protocol_error("the owner of " + std::to_string(roots) + " roots received " + std::to_string(led) + " of " +
                         std::to_string(count * roots) + " examples");
  }
  return opened;
}

void sort_splits(std::vector<Split>& splits) {
  std::ranges::sort(splits, {}, [](const Split& split) { return std::pair(split.label, split.tree); });
}

void Coordinator::insert(std::span<const Split>& splits, std::uint64_t labels) {
  while (learner_.labels().size() < labels) {
    if (splits.size() < leads_.size()) throw_protocol_error("a new label without a split");
    apply(splits.first(leads_.size()));
    splits = splits.subspan(leads_.size());
  }
}

// Inserts the next label into all trees.
void Coordinator::apply(std::span<const Split> splits) {
  forget_joined();
  const std::uint64_t label = learner_.labels().size();
  if (joining_.empty()) throw_protocol_error("a split of no new label");
  TreeChange& change = unsent_.emplace_back(TreeChange{joining_.front(), {}, 0});
  for (std::size_t tree = 0; tree < splits.size(); ++tree) {
    const Split& split = splits[tree];
    if (split.label != label || split.tree != tree) {
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

std::vector<TreeChange> Coordinator::take_changes() { return std::exchange(unsent_, {}); }

}  // namespace cpt
