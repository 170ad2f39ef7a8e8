// How far a run has come, on all ranks together, and who is told.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "train/progress/schedule.h"

namespace cpt {

// Where losses are counted: on every rank those of its own examples, to be added up in rank order whenever a report is
// due; or all of them on rank 0.
enum class Counting : std::uint8_t { kOnEachRank, kOnRank0 };

// All ranks call everything alike, but for advance() and report_now() where rank 0 counts alone.
class Progress {
 public:
  Progress(Communicator& comm, const Learner& learner, Observer& observer, Counting counting);

  // Collective, like go_on().
  ProgressState state();
  // Takes the figures up. Each rank gets a part of the losses; the same number of ranks those that it brought.
  void go_on(const ProgressState& state);

  void begin(Phase phase);
  void begin_pass(std::uint32_t pass) { latest_.pass = pass; }

  // This rank's losses in the current phase.
  Losses& losses() { return mine_; }

  // Examples done by all ranks in this phase. Makes a report when one is due; collective then, or rank 0's.
  void advance(std::uint64_t examples);
  std::uint64_t examples() const { return examples_; }
  Phase phase() const { return latest_.phase; }
  // Examples that may still be done before a report is due.
  std::uint64_t until_report() const { return schedule_.next() - examples_; }
  // A report now, if anything happened since the last one. Collective, or rank 0's.
  void report_now();
  // The losses of the current phase over all ranks. Collective.
  Losses total();

  void count_rounds(std::uint64_t rounds) { latest_.rounds += rounds; }
  void count_sync() { ++latest_.sync_points; }
  std::uint64_t rounds() const { return latest_.rounds; }
  std::uint64_t sync_points() const { return latest_.sync_points; }
  double seconds() const;

  void warn(const std::string& text);
  void tell_moves(const Balance& balance, std::uint64_t interval);
  void tell_checkpoint(const CheckpointReport& report);
  // Lets the observer show how far this rank is; it is called at most a few times a second.
  void show(double part_of_pass);

  // What the observer threw, kept so that collectives are never left half-way; nullptr if all went well.
  const std::exception_ptr& failure() const { return failure_; }
  void rethrow_failure() const;

 private:
  template <class Call>
  void tell(Call call);
  Losses sum_of_ranks();

  using Clock = std::chrono::steady_clock;

  Communicator& comm_;
  const Learner& learner_;
  Observer& observer_;
  Counting counting_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
  ReportSchedule schedule_;
  std::uint64_t examples_ = 0;
  Losses mine_;
  Report latest_;
  std::exception_ptr failure_;
};

}  // namespace cpt
