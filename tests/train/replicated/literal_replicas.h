// The round protocol of replicated training, written down literally and slowly: N learners in one thread, one example
// after another, whole tables merged row by row. It shares the learner and the rule for one row with
// the real thing, and nothing else.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cpt/trainer.h"
#include "model/learning/learner.h"

namespace cpt {

// One rank: its learner, its losses, and what it has done since the last merge.
struct Replica {
  explicit Replica(const ModelOptions& options) : learner(options) {}

  void learn(const ExampleView& x, bool is_new);
  void predict(const ExampleView& x);

  Learner learner;
  Losses losses;
  std::set<std::uint64_t> touched;
  std::uint64_t updates = 0;
};

class LiteralReplicas {
 public:
  LiteralReplicas(int ranks, const TrainingOptions& options);

  // One pass; `parts` holds the examples of each rank.
  void run_pass(const std::vector<Batch>& parts, bool learning);
  // Of all replicas since the last call, added up in rank order.
  Losses take_losses();

  const Replica& replica(std::size_t rank) const { return *replicas_[rank]; }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t sync_points() const { return sync_schedule_; }

 private:
  // What one rank reads for a round.
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::set<std::size_t> proposers;  // positions in the batch of the first examples of labels not in the tree
  };
  using Round = std::vector<Piece>;

  static std::uint64_t examples_in(const Round& round);
  Round read(const std::vector<Batch>& parts, const Round& before, bool learning) const;
  void work(const std::vector<Batch>& parts, const Round& round, std::size_t rank, int half, bool learning);
  std::vector<TreeChange> settle(const std::vector<Batch>& parts, const Round& next);
  bool ends_interval(std::uint64_t examples) const;
  void advance(std::uint64_t examples);
  void merge();

  TrainingOptions options_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<Row> merged_;  // the whole table at the last merge
  std::uint64_t rounds_ = 0;
  std::uint64_t sync_schedule_ = 0;
  std::uint64_t all_examples_ = 0;
  std::uint64_t since_merge_ = 0;
  // Of all replicas since the last merge, as the headers of a round tell them.
  std::uint64_t rows_to_merge_ = 0;
  std::uint64_t rows_trained_ = 0;
};

}  // namespace cpt
