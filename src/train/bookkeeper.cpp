#include "train/bookkeeper.h"

#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/losses.h"

namespace cpt {

void Book::enter(const Finding& finding) {
  Entry& entry = entries[finding.slot];
  switch (finding.kind) {
    case Finding::Kind::kLevel1:
      entry.level1 = finding.value;
      return;
    case Finding::Kind::kDeep:
      entry.deep = finding.value;
      return;
    case Finding::Kind::kDrawn:
      entry.drawn = finding.value;
      return;
    case Finding::Kind::kFound: {
      const bool better = finding.value > entry.best_probability || entry.best == kNoLabel;
      const bool lower = finding.value == entry.best_probability && finding.label < entry.best;
      if (!better && !lower) return;
      entry.best = finding.label;
      entry.best_probability = finding.value;
      return;
    }
  }
}

LabelId Bookkeeper::find(const Arrival& arrival) const {
  if (arrival.label != kNoLabel) return arrival.label;
  const std::string_view name = arrival.example.label();
  const LabelId known = learner_.labels().find(name, hash_label(name));
  if (known != kNoLabel) return known;
  const auto joining = numbers_.find(name);
  return joining == numbers_.end() ? kNoLabel : joining->second;
}

LabelId Bookkeeper::add(std::string_view name) {
  const auto label = narrow<LabelId>(learner_.tree().labels() + joining_.size(), "the number of labels");
  joining_.emplace_back(name);
  numbers_.emplace(joining_.back(), label);
  return label;
}

std::vector<Visit> Bookkeeper::open(const std::vector<Arrival>& arrivals, bool learning, Book& book) {
  std::vector<Visit> visits;
  visits.reserve(arrivals.size() + arrivals.size() / 8);
  book.entries.resize(arrivals.size());
  book.order.clear();
  book.first_number = numbered_ + 1;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (i + ExampleRecord::kAhead < arrivals.size()) arrivals[i + ExampleRecord::kAhead].example.prefetch();
    const Arrival& arrival = arrivals[i];
    const std::uint64_t number = ++numbered_;
    Book::Entry& entry = book.entries[arrival.slot];
    entry = {.importance = arrival.example.importance(), .label = find(arrival)};
    book.order.push_back(arrival.slot);
    entry.is_new = entry.label == kNoLabel;
    const auto add_visit = [&](VisitKind kind) -> Visit& {
      Visit& visit = visits.emplace_back();
      visit.order = arrival.order;
      visit.slot = arrival.slot;
      visit.label = entry.label;
      visit.kind = kind;
      visit.example = arrival.example;
      return visit;
    };
    if (!entry.is_new) {
      entry.is_drawn = brier_due(number);
      entry.is_searched = top1_due(number);
      if (entry.is_drawn) add_visit(VisitKind::kDraw).coins = draw_seed(learner_.options(), number);
      if (entry.is_searched) add_visit(VisitKind::kSearch);
      add_visit(VisitKind::kKnown);
    } else if (learning) {
      entry.label = add(arrival.example.label());
      add_visit(VisitKind::kSettle).coins = begin_settling(learner_.options(), entry.label).coins;
    }
  }
  return visits;
}

void Bookkeeper::close(Book& book) {
  std::sort(book.changes.begin(), book.changes.end(),
            [](const Change& a, const Change& b) { return a.label < b.label; });
  auto change = book.changes.begin();
  std::uint64_t number = book.first_number;
  for (const std::uint32_t slot : book.order) {
    const Book::Entry& entry = book.entries[slot];
    if (entry.is_new && entry.label != kNoLabel) {
      if (change == book.changes.end()) throw Error(Fault::kFailed, "a label has joined no tree");
      apply(*change++, entry.label);
    }
    count(entry, number++);
    progress_.advance(1);
  }
}

void Bookkeeper::apply(const Change& change, LabelId label) {
  if (change.label != label || label != learner_.tree().labels()) {
    throw Error(Fault::kFailed, "label " + std::to_string(label) + " was to join the tree and " +
                                    std::to_string(change.label) + " did");
  }
  TreeChange& told = untold_.emplace_back(TreeChange{joining_.front(), change.split, change.disagreements});
  learner_.apply(told);
  numbers_.erase(joining_.front());
  joining_.pop_front();
}

void Bookkeeper::count(const Book::Entry& entry, std::uint64_t number) {
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

std::vector<TreeChange> Bookkeeper::take_changes() { return std::exchange(untold_, {}); }

}  // namespace cpt
