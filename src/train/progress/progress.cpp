#include "train/progress/progress.h"

#include <string_view>

#include "api/tree_figures.h"
#include "comm/collectives.h"
#include "core/checked.h"

namespace cpt {

Progress::Progress(Communicator& comm, const Learner& learner, Observer& observer)
    : comm_(comm), learner_(learner), observer_(observer) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

ProgressState Progress::state() {
  ProgressState state;
  state.phase = latest_.phase;
  state.pass = latest_.pass;
  state.examples = examples_;
  state.next_report = schedule_.next();
  state.losses = all_gather_value(comm_, mine_, "checkpoint: losses");
  state.last_report = latest_.so_far;
  state.rounds = latest_.rounds;
  state.sync_points = latest_.sync_points;
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
}

void Progress::begin(Phase phase) {
  schedule_ = ReportSchedule();
  examples_ = 0;
  mine_ = {};
  latest_.phase = phase;
  latest_.pass = 0;
  latest_.so_far = {};
  latest_.since_last = {};
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
  if (comm_.rank() != 0 || Clock::now() - shown_ < kBetween) return;
  shown_ = Clock::now();
  latest_.seconds = seconds();
  failure_.run([&] { observer_.progress(examples_, latest_.seconds, part_of_pass); });
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
