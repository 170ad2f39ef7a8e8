#include "train/replicated/literal_replicas.h"

#include <algorithm>
#include <cstring>

#include "model/learning/losses.h"
#include "train/merge/weight_merge.h"
#include "train/progress/schedule.h"

namespace cpt {

namespace {

Row row_of(const Learner& learner, std::uint64_t index) {
  Row row;
  std::memcpy(row.data(), learner.weights().row(index), sizeof row);
  return row;
}

}  // namespace

void Replica::learn(const ExampleView& x, bool is_new) {
  PathState path_state;
  const LabelId label = learner.find(x);
  learner.locate(x, label, path_state);
  const double p = learner.predict(path_state);
  if (is_new) {
    losses.add_new(x.importance);
  } else {
    count_seen(learner, path_state.example, label, p, losses);
  }
  for (const float* row : path_state.rows) touched.insert(learner.weights().index_of(row));
  updates += path_state.rows.size();
  learner.train(path_state);
}

void Replica::predict(const ExampleView& x) {
  const LabelId label = learner.find(x);
  if (label == kNoLabel) return losses.add_new(x.importance);
  PathState path_state;
  learner.locate(x, label, path_state);
  const double p = learner.predict(path_state);
  count_seen(learner, path_state.example, label, p, losses);
}

LiteralReplicas::LiteralReplicas(int ranks, const TrainingOptions& options)
    : options_(options), merged_(std::size_t{1} << options.model.bits) {
  for (int rank = 0; rank < ranks; ++rank) replicas_.push_back(std::make_unique<Replica>(options.model));
}

void LiteralReplicas::run_pass(const std::vector<Batch>& parts, bool learning) {
  Round current(replicas_.size());
  for (;;) {
    if (learning && examples_in(current) > 0 && ends_interval(examples_in(current))) {
      for (std::size_t r = 0; r < replicas_.size(); ++r) {
        work(parts, current, r, 1, learning);
        work(parts, current, r, 2, learning);
      }
      ++rounds_;
      advance(examples_in(current));
      for (Piece& piece : current) piece = {piece.end, piece.end, {}};
    }
    const Round next = read(parts, current, learning);
    std::uint64_t to_merge = 0;
    std::uint64_t trained = 0;
    for (const auto& replica : replicas_) {
      to_merge += replica->touched.size();
      trained += replica->updates;
    }
    for (std::size_t r = 0; r < replicas_.size(); ++r) work(parts, current, r, 1, learning);
    // The coordinator's tree has the next round's labels while it trains the second half of this one; the others' get
    // them afterwards.
    const std::vector<TreeChange> changes = settle(parts, next);
    for (std::size_t r = 0; r < replicas_.size(); ++r) work(parts, current, r, 2, learning);
    for (std::size_t r = 1; r < replicas_.size(); ++r) {
      for (const TreeChange& change : changes) replicas_[r]->learner.apply(change);
    }

    if (examples_in(current) > 0) ++rounds_;
    if (learning) advance(examples_in(current));
    rows_to_merge_ = to_merge;
    rows_trained_ = trained;
    if (examples_in(next) == 0) break;
    current = next;
  }
  if (since_merge_ > 0) merge();
}

// Each rank's next examples, and which of them propose their label.
LiteralReplicas::Round LiteralReplicas::read(const std::vector<Batch>& parts, const Round& before,
                                             bool learning) const {
  Round round;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    const Learner& learner = replicas_[r]->learner;
    Piece piece;
    piece.begin = before[r].end;
    piece.end = std::min<std::size_t>(
        parts[r].size(), piece.begin + round_length(learner.tree().labels(), static_cast<int>(replicas_.size())));
    std::set<std::string> proposed;
    for (std::size_t i = piece.begin; learning && i < piece.end; ++i) {
      const ExampleView x = parts[r][i];
      if (learner.find(x) == kNoLabel && proposed.emplace(x.label).second) piece.proposers.insert(i);
    }
    round.push_back(piece);
  }
  return round;
}

// The first or the second half of a rank's piece.
void LiteralReplicas::work(const std::vector<Batch>& parts, const Round& round, std::size_t rank, int half,
                           bool learning) {
  const Piece& piece = round[rank];
  const std::size_t middle = piece.begin + (piece.end - piece.begin) / 2;
  const std::size_t begin = half == 1 ? piece.begin : middle;
  const std::size_t end = half == 1 ? middle : piece.end;
  for (std::size_t i = begin; i < end; ++i) {
    if (learning) {
      replicas_[rank]->learn(parts[rank][i], piece.proposers.count(i) == 1);
    } else {
      replicas_[rank]->predict(parts[rank][i]);
    }
  }
}

// The coordinator settles by (rank, position); of several proposals of one label the first counts.
std::vector<TreeChange> LiteralReplicas::settle(const std::vector<Batch>& parts, const Round& next) {
  Learner& coordinator = replicas_[0]->learner;
  std::vector<TreeChange> changes;
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    for (const std::size_t i : next[r].proposers) {
      const ExampleView x = parts[r][i];
      if (coordinator.find(x) != kNoLabel) continue;
      changes.push_back(coordinator.choose_split(x));
      coordinator.apply(changes.back());
    }
  }
  return changes;
}

std::uint64_t LiteralReplicas::examples_in(const Round& round) {
  std::uint64_t examples = 0;
  for (const Piece& piece : round) examples += piece.end - piece.begin;
  return examples;
}

bool LiteralReplicas::ends_interval(std::uint64_t examples) const {
  const std::uint64_t in_interval = since_merge_ + examples;
  if (options_.sync_examples > 0) return in_interval >= options_.sync_examples;
  if (in_interval < 1000) return false;
  const std::uint64_t all = all_examples_ + examples;
  if (options_.sync_fraction > 0) {
    return static_cast<double>(in_interval) >= options_.sync_fraction * static_cast<double>(all);
  }
  const bool is_cheap = rows_trained_ > 0 && 4 * replicas_.size() * rows_to_merge_ <= rows_trained_;
  return (is_cheap && 50 * in_interval >= all) || 2 * in_interval >= all;
}

void LiteralReplicas::advance(std::uint64_t examples) {
  const bool due = ends_interval(examples);
  all_examples_ += examples;
  since_merge_ += examples;
  if (due) merge();
}

// Row by row over the whole table.
void LiteralReplicas::merge() {
  double growth = 0;
  std::uint64_t updates = 0;
  for (const auto& replica : replicas_) {
    double of_rank = 0;
    for (const std::uint64_t index : replica->touched) {
      of_rank += static_cast<double>(row_of(replica->learner, index)[0]) - static_cast<double>(merged_[index][0]);
    }
    growth += of_rank;
    updates += replica->updates;
  }
  const double unit = growth > 0 ? growth / static_cast<double>(updates) : 1;

  for (std::uint64_t index = 0; index < merged_.size(); ++index) {
    std::vector<Row> now;
    for (const auto& replica : replicas_) {
      const Row row = row_of(replica->learner, index);
      if (replica->touched.count(index) == 1 && row != merged_[index]) now.push_back(row);
    }
    if (now.empty()) continue;
    std::vector<RowOfRank> pointers;
    for (const Row& row : now) pointers.push_back(&row);
    merged_[index] = merge_row(options_.merge, merged_[index], pointers, static_cast<int>(replicas_.size()), unit);
    for (const auto& replica : replicas_) {
      std::memcpy(replica->learner.weights().row(index), merged_[index].data(), sizeof(Row));
    }
  }
  for (const auto& replica : replicas_) {
    replica->touched.clear();
    replica->updates = 0;
  }
  since_merge_ = rows_to_merge_ = rows_trained_ = 0;
  ++sync_schedule_;
}

Losses LiteralReplicas::take_losses() {
  Losses sum;
  for (const auto& replica : replicas_) {
    sum += replica->losses;
    replica->losses = {};
  }
  return sum;
}

}  // namespace cpt
