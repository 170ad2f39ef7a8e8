#include "train/partitioned/ledger.h"

#include <cmath>
#include <string>

#include "model/learning/learner.h"
#include "model/learning/losses.h"

namespace cpt {

void RoundLedger::clear() {
  entries_.clear();
  parts_.clear();
  counted_ = 0;
}

void RoundLedger::add(std::uint64_t order, float importance, LabelId label) {
  entries_.push_back({.order = order, .importance = importance, .label = label, .best = {}});
  parts_.resize(parts_.size() + trees_);
}

void RoundLedger::enter(const PartialResult& partial) {
  if (partial.part >= parts_.size()) {
    throw_protocol_error("a result of number " + std::to_string(partial.part) + " of " + std::to_string(parts_.size()));
  }
  Part& part = parts_[partial.part];
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
      Ranked& best = entries_[partial.part / trees_].best;
      const Ranked found{partial.label, partial.value};
      if (best.label == kNoLabel || ranks_before(found, best)) best = found;
      return;
    }
  }
}

void RoundLedger::enter(const Numbered& numbered) {
  if (numbered.slot >= entries_.size()) {
    throw_protocol_error("a number for slot " + std::to_string(numbered.slot) + " of " +
                         std::to_string(entries_.size()));
  }
  Entry& entry = entries_[numbered.slot];
  entry.number = numbered.number;
  entry.label = numbered.label;
  entry.is_new = numbered.is_new != 0;
}

void RoundLedger::enter_all(ConstBytes message, std::vector<Split>& splits) {
  const auto header = take_header<ResultHeader>(message);
  // No product of these counts can overflow: each is bounded by the bytes that are there.
  if (header.partials > message.size() / sizeof(PartialResult)) throw_protocol_error("results are missing");
  for (ConstBytes rest = take_bytes(message, header.partials * sizeof(PartialResult)); !rest.empty();) {
    enter(take_header<PartialResult>(rest));
  }
  if (header.numbered > message.size() / sizeof(Numbered)) throw_protocol_error("numbers are missing");
  for (ConstBytes rest = take_bytes(message, header.numbered * sizeof(Numbered)); !rest.empty();) {
    enter(take_header<Numbered>(rest));
  }
  if (message.size() != header.splits * sizeof(Split) || header.splits > message.size()) {
    throw_protocol_error("a message with bytes for other than its " + std::to_string(header.splits) + " splits");
  }
  while (!message.empty()) splits.push_back(take_header<Split>(message));
}

void RoundLedger::count_until(std::uint64_t order, const ModelOptions& options, Losses& losses) {
  for (; counted_ < entries_.size() && entries_[counted_].order <= order; ++counted_) count(counted_, options, losses);
}

void RoundLedger::count(std::size_t slot, const ModelOptions& options, Losses& losses) {
  const Entry& entry = entries_[slot];
  const std::span<const Part> parts = std::span(parts_).subspan(slot * trees_, trees_);
  // The products and the mean of TreeEstimator::predict, in its order.
  double p = 0;
  for (const Part& part : parts) p += part.upper * part.deep;
  p /= static_cast<double>(parts.size());
  if (!std::isfinite(p)) throw_diverged();
  if (entry.is_new) {
    losses.add_new(entry.importance);
    return;
  }
  losses.add_seen(entry.importance, p);
  if (entry.number == 0) return;
  const double weight = sample_weight(entry.importance, entry.number);
  drawn_.clear();
  for (const Part& part : parts) drawn_.push_back(part.drawn);
  losses.add_other_squares(weight, other_squares(drawn_, entry.label));
  if (searches_best(options)) losses.add_top1(weight, entry.best.label == entry.label);
}

}  // namespace cpt
