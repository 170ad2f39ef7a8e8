// The figures of a run over all ranks, and the calls of its observer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "core/deferred_error.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "train/progress/schedule.h"

namespace cpt {

// All ranks make the same calls, each with the losses of its own examples. Only rank 0 has an observer that listens.
class Progress {
 public:
  // `every`: between stretches; 0: there are none.
  Progress(Communicator& comm, const Learner& learner, Observer& observer, std::chrono::milliseconds every);

  // The state for a checkpoint. Collective.
  ProgressState state();
  // Continues from a checkpoint. The losses are divided among the ranks; on the same number of ranks each gets its own
  // back, and so the numbers by which replicas sample examples.
  void restore(const ProgressState& state);

  void begin(Phase phase);
  // `part_of_pass`: the part that was read before; negative if not known.
  void begin_pass(std::uint32_t pass, double part_of_pass);

  // A validation in the middle of a phase, whose figures are set aside: it counts from 0, in losses of its own, and
  // only stretches report it. state() is that of the phase.
  void begin_validation();
  void end_validation();

  // This rank's losses in the current phase.
  Losses& losses() { return mine_; }

  // Counts examples that all ranks have done in this phase, and reports if a report is due (see report_now()).
  void advance(std::uint64_t examples);
  std::uint64_t examples() const { return examples_; }
  // The same, but not of a validation.
  std::uint64_t examples_of_phase() const { return set_aside_ ? set_aside_->examples : examples_; }
  Phase phase() const { return latest_.phase; }
  // The number of examples until the next report.
  std::uint64_t until_report() const { return schedule_.next() - examples_; }
  // Reports unless nothing happened since the last report. Collective.
  void report_now();
  // The losses of all ranks in the current phase. Collective.
  Losses total();

  void count_rounds(std::uint64_t rounds) { latest_.rounds += rounds; }
  void count_sync() { ++latest_.sync_points; }
  std::uint64_t rounds() const { return latest_.rounds; }
  std::uint64_t sync_points() const { return latest_.sync_points; }
  double seconds() const;

  void warn(const std::string& text);
  void report_moves(const Balance& balance, std::uint64_t interval);
  void report_checkpoint(const CheckpointReport& report);
  void report_validation(const Validation& validation);
  // Shows how much of the pass this rank has read, a few times a second at most.
  void show(double part_of_pass);

  // Whether a stretch is due: on rank 0 by its clock, once for each; false elsewhere.
  bool stretch_due();
  // Tells the observer of the stretch that ends here. `part_of_pass`: read by this rank. Collective.
  void report_stretch(double part_of_pass);

  // The error of the observer. It is kept because other ranks may wait in a collective; the observer is not called
  // again.
  const std::exception_ptr& failure() const { return failure_.get(); }
  void rethrow_failure() const { failure_.rethrow(); }

 private:
  using Clock = std::chrono::steady_clock;

  // The figures that a validation sets aside.
  struct Figures {
    ReportSchedule schedule;
    std::uint64_t examples;
    Losses mine;
    Report latest;
  };

  Figures figures() const { return {schedule_, examples_, mine_, latest_}; }
  void begin_stretch();

  Communicator& comm_;
  const Learner& learner_;
  Observer& observer_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
  const std::chrono::milliseconds every_;
  Clock::time_point stretch_asked_ = Clock::now();
  Clock::time_point stretch_began_ = Clock::now();
  Losses before_stretch_;  // mine_ when it began
  // When the stretch or, if later, the pass began, and the part of the pass that had been read then.
  Clock::time_point part_began_ = Clock::now();
  double part_before_ = 0;
  ReportSchedule schedule_;
  std::uint64_t examples_ = 0;
  Losses mine_;
  Report latest_;
  std::optional<Figures> set_aside_;
  DeferredError failure_;
};

// The warnings as one text for rank 0, which shows them: every line begins with rank and host.
std::string join_warnings(const Communicator& comm, const std::vector<std::string>& warnings);
// The lines of such a text.
std::vector<std::string> split_warnings(ConstBytes bytes);

}  // namespace cpt
