#include "train/merge/weight_merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "core/number_text.h"
#include "cpt/error.h"

namespace cpt {

namespace {

// Rows lie anywhere in the table, so those that come this many later are prefetched.
constexpr std::size_t kAhead = 16;

// merged = before + factor * sum(weight_r * delta_r); lane 0 grows by `growth`.
struct Combination {
  double factor = 0;
  double growth = 0;
};

[[noreturn]] void throw_wrong_row(std::uint64_t index) {
  throw Error(Fault::kFailed, "protocol error: a merge of row " + std::to_string(index) + " by a wrong rank");
}

double growth_of(const Row& before, const Row& now) {
  return static_cast<double>(now[0]) - static_cast<double>(before[0]);
}

template <class WeightOf>
Row combine(const Row& before, std::span<const RowOfRank> now, Combination how, WeightOf weight_of) {
  std::array<double, kLanes> sum{};
  for (RowOfRank row : now) {
    const double weight = weight_of(*row);
    for (std::size_t s = 0; s < kLanes; ++s) {
      sum[s] += weight * (static_cast<double>((*row)[s]) - static_cast<double>(before[s]));
    }
  }
  Row merged;
  for (std::size_t s = 0; s < kLanes; ++s) {
    merged[s] = static_cast<float>(static_cast<double>(before[s]) + how.factor * sum[s]);
  }
  merged[0] = static_cast<float>(static_cast<double>(before[0]) + how.growth);
  return merged;
}

}  // namespace

Row merge_row(MergeRule rule, const Row& before, std::span<const RowOfRank> now, int ranks, double unit) {
  double growth = 0;
  for (RowOfRank row : now) growth += growth_of(before, *row);
  if (rule == MergeRule::kAverage) {
    return combine(before, now, {1.0 / ranks, growth / ranks}, [](const Row&) { return 1.0; });
  }
  if (now.size() == 1) return *now.front();
  if (growth <= 0) {
    // The accumulators are too large to feel these changes, as those of frequent features are after 2^24 updates; so
    // nothing tells the ranks apart.
    return combine(before, now, {1.0 / static_cast<double>(now.size()), 0}, [](const Row&) { return 1.0; });
  }
  const auto confidence = [&](const Row& row) { return growth_of(before, row); };
  if (rule == MergeRule::kConfidence) return combine(before, now, {1 / growth, growth}, confidence);

  // (1 - exp(-C)) / sum(c (1 - exp(-c))), by expm1 because c is often tiny.
  double denominator = 0;
  for (RowOfRank row : now) {
    const double c = confidence(*row) / unit;
    denominator += c * -std::expm1(-c);
  }
  if (denominator <= 0) return combine(before, now, {1 / growth, growth}, confidence);
  const double factor = -std::expm1(-growth / unit) / denominator / unit;
  return combine(before, now, {factor, growth}, confidence);
}

WeightMerger::WeightMerger(Communicator& comm, Learner& learner, MergeRule rule, const std::vector<Region>& regions,
                           std::uint64_t segment_bytes)
    : comm_(comm),
      learner_(learner),
      rule_(rule),
      segment_bytes_(segment_bytes),
      dealing_(comm.size()),
      touched_(learner.weights(), rule == MergeRule::kContraction),
      before_(learner.weights(), regions, dealing_, static_cast<std::size_t>(comm.rank())),
      to_ranks_(static_cast<std::size_t>(comm.size())) {}

void WeightMerger::merge() {
  if (!exchanges_) {
    // Segments are even to a few percent.
    const std::uint64_t most = (segment_bytes_ + segment_bytes_ / 4) / sizeof(RowRecord);
    exchanges_.emplace(Exchanges{{comm_, most}, {comm_, most}});
  }
  untouched_digest_ = 0;
  merged_digest_ = 0;
  touched_digests_.assign(to_ranks_.size(), 0);
  const double unit = rule_ == MergeRule::kContraction ? growth_per_update() : 1;
  const std::uint64_t segments = agree_on_segments();
  for (std::uint64_t segment = 0; segment < segments; ++segment) merge_segment(segment, segments, unit);
  touched_.clear();
  compare_digests();
}

// The mean growth of lane 0 per update, on all ranks; 1 if there is none. A difference of sums: only other ranks know
// what most rows were before.
double WeightMerger::growth_per_update() {
  constexpr std::uint64_t kTogether = 1024;
  double lane_0 = 0;
  for (std::uint64_t begin = 0; begin < learner_.weights().rows(); begin += kTogether) {
    indices_.clear();
    touched_.append_to(indices_, begin, begin + kTogether);
    for (const std::uint64_t index : indices_) lane_0 += static_cast<double>(learner_.weights().row(index)[0]);
  }
  double growth = lane_0 - touched_.lane_0_before();
  std::uint64_t updates = touched_.updates();
  sum_in_rank_order(comm_, {&growth, 1}, "merge: growth");
  sum_in_rank_order(comm_, {&updates, 1}, "merge: updates");
  return growth > 0 ? growth / static_cast<double>(updates) : 1;
}

std::uint64_t WeightMerger::agree_on_segments() {
  const std::vector<std::uint64_t> rows = all_gather_value(comm_, touched_.size(), "merge: rows");
  return 1 + std::ranges::max(rows) * sizeof(RowRecord) / segment_bytes_;
}

void WeightMerger::merge_segment(std::uint64_t segment, std::uint64_t segments, double unit) {
  collect(segment, segments);
  reduce(exchanges_->to_reducers.exchange(to_ranks_, "merge: reduce"), unit);
  const RecordsOfRanks merged(to_ranks_.size(), merged_.first(merged_rows_));
  for (const RowRecords& records : exchanges_->to_all.exchange(merged, "merge: distribute")) install(records);
}

// Fills to_ranks_ with the touched rows of the segment, by reducer and ascending index.
void WeightMerger::collect(std::uint64_t segment, std::uint64_t segments) {
  const std::uint64_t rows = learner_.weights().rows();
  const std::uint64_t turn = dealing_.turn();
  indices_.clear();
  for (std::uint64_t first = segment * turn; first < rows; first += segments * turn) {
    touched_.append_to(indices_, first, first + turn);
  }
  std::vector<std::size_t> next(to_ranks_.size() + 1);
  for (const std::uint64_t index : indices_) ++next[dealing_.rank_of(index) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::span<RowRecord> room = exchanges_->to_reducers.room(indices_.size());
  for (std::size_t r = 0; r < to_ranks_.size(); ++r) to_ranks_[r] = room.subspan(next[r], next[r + 1] - next[r]);
  for (std::size_t i = 0; i < indices_.size(); ++i) {
    if (i + kAhead < indices_.size()) __builtin_prefetch(learner_.weights().row(indices_[i + kAhead]));
    const std::uint64_t index = indices_[i];
    RowRecord& record = room[next[dealing_.rank_of(index)]++];
    record.index = index;
    std::memcpy(record.row.data(), learner_.weights().row(index), sizeof(Row));
  }
}

// Of a row that another rank has sent.
void WeightMerger::check_index(std::uint64_t index) const {
  if (index >= learner_.weights().rows()) throw_wrong_row(index);
}

// Fills merged_ with the merged rows of what the ranks sent, each by ascending index, row by row in rank order.
void WeightMerger::reduce(const RecordsOfRanks& from_ranks, double unit) {
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  std::vector<std::size_t> next(from_ranks.size());
  const auto index_at = [&](std::size_t r) {
    return next[r] < from_ranks[r].size() ? from_ranks[r][next[r]].index : kEnd;
  };
  std::uint64_t most = 0;
  for (const RowRecords& records : from_ranks) most += records.size();
  merged_ = exchanges_->to_all.room(most);
  merged_rows_ = 0;
  for (;;) {
    std::uint64_t index = kEnd;
    for (std::size_t r = 0; r < from_ranks.size(); ++r) index = std::min(index, index_at(r));
    if (index == kEnd) break;
    check_index(index);
    if (dealing_.rank_of(index) != static_cast<std::size_t>(comm_.rank())) throw_wrong_row(index);
    to_combine_.push_back({.index = index, .ranks = 0});
    for (std::size_t r = 0; r < from_ranks.size(); ++r) {
      if (index_at(r) != index) continue;
      sent_rows_.push_back({r, &from_ranks[r][next[r]++].row});
      ++to_combine_.back().ranks;
    }
    before_.prefetch(index);
    if (to_combine_.size() == kCombinedTogether) combine_rows(unit);
  }
  combine_rows(unit);
}

// Merges the rows that reduce() has found. What they were before is prefetched by now.
void WeightMerger::combine_rows(double unit) {
  std::span<const SentRow> left(sent_rows_);
  for (const ToCombine& combined : to_combine_) {
    Row& before = before_[combined.index];
    const std::span<const SentRow> sent = left.first(combined.ranks);
    left = left.subspan(combined.ranks);
    changed_rows_.clear();
    for (const SentRow& row : sent) {
      if (!same_bits(*row.now, before)) changed_rows_.push_back(row.now);
    }
    if (changed_rows_.empty()) continue;
    const std::uint64_t digest = WeightTable::digest_of(before.data(), combined.index);
    merged_digest_ += digest;
    for (const SentRow& row : sent) touched_digests_[row.rank] += digest;
    before = merge_row(rule_, before, changed_rows_, comm_.size(), unit);
    finite_ = finite_ && is_finite(before);
    merged_[merged_rows_++] = {combined.index, before};
  }
  sent_rows_.clear();
  to_combine_.clear();
}

void WeightMerger::install(RowRecords merged) {
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (i + kAhead < merged.size()) __builtin_prefetch(learner_.weights().row(merged[i + kAhead].index), 1);
    const auto& [index, row] = merged[i];
    check_index(index);
    float* const now = learner_.weights().row(index);
    if (!touched_.contains(index)) untouched_digest_ += WeightTable::digest_of(now, index);
    std::memcpy(now, row.data(), sizeof(Row));
  }
}

void WeightMerger::compare_digests() {
  require_equal(comm_, {{"another tree", learner_.growth_digest()}}, "merge: trees");
  const std::size_t ranks = touched_digests_.size();
  std::vector<std::uint64_t> expected_of_ranks;  // of what this rank merged
  for (const std::uint64_t touched : touched_digests_) expected_of_ranks.push_back(merged_digest_ - touched);
  std::vector<std::uint64_t> all(ranks * ranks);  // by reducer and rank
  comm_.wait(
      *comm_.start_all_gather(std::as_bytes(std::span(expected_of_ranks)), std::as_writable_bytes(std::span(all))),
      "merge: digests");
  std::uint64_t expected = 0;
  for (std::size_t reducer = 0; reducer < ranks; ++reducer) {
    expected += all[reducer * ranks + static_cast<std::size_t>(comm_.rank())];
  }
  run_on_all(comm_, "merge: check", [&] {
    if (!finite_) {
      throw Error(Fault::kFailed,
                  "merged weights are not finite: use --merge confidence, a lower --learning-rate, or smaller "
                  "importances and feature values");
    }
    if (untouched_digest_ != expected) {
      throw Error(Fault::kFailed, "weights that it did not train are not those of the last merge: their digest is " +
                                      digest_text(untouched_digest_) + " instead of " + digest_text(expected));
    }
  });
}

}  // namespace cpt
