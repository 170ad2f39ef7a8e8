#include "train/progress/progress.h"

#include <algorithm>
#include <string_view>

#include "api/tree_figures.h"
#include "comm/collectives.h"
#include "core/checked.h"
#include "train/host/host.h"

namespace cpt {

namespace {

// The figures of a stretch from one rank.
struct StretchOfRank {
  Losses losses;
  double part_of_pass = 0;
  std::uint64_t peak_bytes = 0;
};

}  // namespace

Progress::Progress(Communicator& comm, const Learner& learner, Observer& observer, std::chrono::milliseconds every)
    : comm_(comm), learner_(learner), observer_(observer), every_(every) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

ProgressState Progress::state() {
  const Figures of_phase = set_aside_ ? *set_aside_ : figures();
  const Report& latest = of_phase.latest;
  ProgressState state;
  state.phase = latest.phase;
  state.pass = latest.pass;
  state.examples = of_phase.examples;
  state.next_report = of_phase.schedule.next();
  state.losses = all_gather_value(comm_, of_phase.mine, "checkpoint: losses");
  state.last_report = latest.so_far;
  state.rounds = latest.rounds;
  state.sync_points = latest.sync_points;
  state.seconds = seconds();
  return state;
}

void Progress::restore(const ProgressState& state) {
  latest_ = {};
  latest_.phase = state.phase;
  latest_.pass = state.pass;
  latest_.so_far = state.last_report;
  latest_.rounds = state.rounds;
  latest_.sync_points = state.sync_points;
  examples_ = state.examples;
  schedule_ = ReportSchedule(state.next_report);
  start_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(state.seconds));
  mine_ = {};
  for (std::size_t part = 0; part < state.losses.size(); ++part) {
    if (static_cast<int>(part) % comm_.size() == comm_.rank()) mine_ += state.losses[part];
  }
  begin_stretch();
}

void Progress::begin(Phase phase) {
  schedule_ = ReportSchedule();
  examples_ = 0;
  mine_ = {};
  latest_.phase = phase;
  latest_.pass = 0;
  latest_.so_far = {};
  latest_.since_last = {};
  begin_stretch();
}

void Progress::begin_pass(std::uint32_t pass, double part_of_pass) {
  latest_.pass = pass;
  part_began_ = Clock::now();
  part_before_ = part_of_pass;
}

void Progress::begin_validation() {
  set_aside_ = figures();
  schedule_ = ReportSchedule(~std::uint64_t{0});
  examples_ = 0;
  mine_ = {};
  begin_pass(latest_.pass, 0);
  begin_stretch();
}

void Progress::end_validation() {
  schedule_ = set_aside_->schedule;
  examples_ = set_aside_->examples;
  mine_ = set_aside_->mine;
  latest_ = set_aside_->latest;
  begin_pass(latest_.pass, -1);
  begin_stretch();
  set_aside_.reset();
}

Losses Progress::total() {
  Losses sum;
  for (const Losses& losses : all_gather_value(comm_, mine_, "report")) sum += losses;
  return sum;
}

void Progress::advance(std::uint64_t examples) {
  examples_ += examples;
  if (schedule_.due(examples_)) report_now();
}

void Progress::report_now() {
  const Losses now = total();
  if (now.examples == latest_.so_far.examples) return;
  latest_.since_last = now.since(latest_.so_far);
  latest_.so_far = now;
  latest_.seconds = seconds();
  latest_.labels = learner_.tree().labels();
  latest_.bytes_sent = comm_.bytes_sent();
  latest_.communication_seconds = comm_.seconds_waited();
  latest_.traffic = comm_.traffic();
  if (comm_.rank() != 0) return;
  const std::size_t depths = learner_.options().is_tree() ? leaves_by_depth(learner_.trees()).size() : 0;
  latest_.depth_max = depths == 0 ? 0 : narrow<std::uint32_t>(depths - 1, "the depth of the tree");
  failure_.run([&] { observer_.report(latest_); });
}

void Progress::show(double part_of_pass) {
  constexpr auto kBetween = std::chrono::milliseconds(200);
  if (comm_.rank() != 0 || set_aside_ || Clock::now() - shown_ < kBetween) return;
  shown_ = Clock::now();
  latest_.seconds = seconds();
  failure_.run([&] { observer_.progress(examples_, latest_.seconds, part_of_pass); });
}

void Progress::begin_stretch() {
  stretch_began_ = Clock::now();
  before_stretch_ = mine_;
}

bool Progress::stretch_due() {
  if (comm_.rank() != 0 || every_.count() == 0 || Clock::now() - stretch_asked_ < every_) return false;
  stretch_asked_ = Clock::now();
  return true;
}

void Progress::report_stretch(double part_of_pass) {
  const auto seconds_since = [now = Clock::now()](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  const StretchOfRank mine{mine_.since(before_stretch_), part_of_pass, peak_memory()};
  Stretch stretch;
  stretch.phase = latest_.phase;
  stretch.pass = latest_.pass;
  stretch.examples = examples_;
  stretch.seconds = seconds();
  stretch.duration = seconds_since(stretch_began_);
  stretch.part_of_pass = part_of_pass;
  stretch.validates = set_aside_.has_value();
  for (const StretchOfRank& rank : all_gather_value(comm_, mine, "progress")) {
    stretch.losses += rank.losses;
    stretch.part_of_pass = std::min(stretch.part_of_pass, rank.part_of_pass);
    stretch.peak_bytes = std::max(stretch.peak_bytes, rank.peak_bytes);
  }
  const double part = stretch.part_of_pass - part_before_;
  if (part_before_ >= 0 && part > 0)
    stretch.seconds_left = seconds_since(part_began_) * (1 - stretch.part_of_pass) / part;
  begin_stretch();
  part_began_ = stretch_began_;
  part_before_ = stretch.part_of_pass;
  if (comm_.rank() == 0) failure_.run([&] { observer_.stretch(stretch); });
}

void Progress::warn(const std::string& text) {
  failure_.run([&] { observer_.warn(text); });
}

void Progress::report_moves(const Balance& balance, std::uint64_t interval) {
  if (comm_.rank() != 0) return;
  failure_.run([&] { observer_.rebalanced(balance, interval); });
}

void Progress::report_checkpoint(const CheckpointReport& report) {
  if (comm_.rank() != 0) return;
  failure_.run([&] { observer_.checkpointed(report); });
}

void Progress::report_validation(const Validation& validation) {
  if (comm_.rank() != 0) return;
  failure_.run([&] { observer_.validated(validation); });
}

std::string join_warnings(const Communicator& comm, const std::vector<std::string>& warnings) {
  std::string text;
  for (const std::string& warning : warnings) text += rank_and_host(comm, comm.rank()) + ": " + warning + "\n";
  return text;
}

std::vector<std::string> split_warnings(ConstBytes bytes) {
  std::vector<std::string> lines;
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

}  // namespace cpt
