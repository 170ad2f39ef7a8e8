#include "app/dist/dist_observer.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "app/dist/summary_text.h"
#include "core/version.h"
#include "cpt/error.h"

namespace cpt {

namespace {

// Replaces the log of an earlier run in the same directory, unless this one resumes it.
std::shared_ptr<spdlog::logger> open_log(const std::filesystem::path& path, bool append) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path.string(), !append);
    auto log = std::make_shared<spdlog::logger>("cpt_dist", sink);
    log->set_pattern("%Y-%m-%dT%H:%M:%S%z %l %v");
    log->flush_on(spdlog::level::info);
    log->set_error_handler(
        [path](const std::string& reason) { throw Error(Fault::kCannotWrite, path.string() + ": " + reason); });
    return log;
  } catch (const spdlog::spdlog_ex& error) {
    throw Error(Fault::kCannotWrite, error.what());
  }
}

}  // namespace

DistObserver::DistObserver(const DistOptions& options, RunDirectory& run, int ranks,
                           const std::optional<Resumption>& resumption)
    : run_(run),
      metric_(options.training.validation.metric()),
      table_(options.progress != ProgressStyle::kNone),
      bar_(options.progress == ProgressStyle::kBar ||
           (options.progress == ProgressStyle::kAuto && isatty(STDERR_FILENO) == 1)),
      metrics_(run.metrics(), resumption.has_value()),
      log_(open_log(run.log(), resumption.has_value())) {
  info(std::string("cpt_dist ") + kVersion + " " + kCommit + " on " + std::to_string(ranks) +
       (ranks == 1 ? " rank" : " ranks"));
  for (const auto& [name, value] : describe_options(options)) info("option " + name + " = " + value);
  if (resumption) tell(resumption_text(*resumption));
}

DistObserver::~DistObserver() { clear_bar(); }

void DistObserver::info(const std::string& text) { log_->info(text); }

void DistObserver::tell(const std::string& text) {
  info(text);
  if (table_) std::fprintf(stderr, "%s\n", text.c_str());
}

void DistObserver::error(const std::string& text) noexcept {
  try {
    log_->error(text);
  } catch (const std::exception&) {
  }
}

void DistObserver::warn(const std::string& text) {
  log_->warn(text);
  clear_bar();
  std::fprintf(stderr, "cpt_dist: warning: %s\n", text.c_str());
}

void DistObserver::rebalanced(const Balance& balance, std::uint64_t interval) {
  metrics_.write(metrics_line(balance, interval));
  info(balance_text(balance, interval));
}

void DistObserver::checkpointed(const CheckpointReport& report) {
  run_.require_in_place();
  metrics_.write(metrics_line(report));
  info(checkpoint_text(report));
}

void DistObserver::validated(const Validation& validation) {
  run_.require_in_place();
  metrics_.write(metrics_line(validation));
  clear_bar();
  tell(validation_text(validation, metric_));
}

void DistObserver::stretch(const Stretch& stretch) {
  metrics_.write(metrics_line(stretch));
  if (!table_) return;
  clear_bar();
  std::fprintf(stderr, "%s\n", stretch_text(stretch).c_str());
}

void DistObserver::report(const Report& report) {
  run_.require_in_place();
  metrics_.write(metrics_line(report));
  if (table_) print_row(report);
}

void DistObserver::print_row(const Report& report) {
  clear_bar();
  if (!header_shown_ || report.phase != phase_) {
    std::fprintf(stderr, "%s%5s %12s %9s %8s %8s %8s %8s %9s %5s\n", header_shown_ ? "\n" : "", "", "examples",
                 "seconds", "squared", "last", "log seen", "last", "labels", "depth");
    header_shown_ = true;
    phase_ = report.phase;
  }
  const Losses& so_far = report.so_far;
  const Losses& last = report.since_last;
  std::fprintf(stderr, "%5s %12llu %9.2f %8.4f %8.4f %8s %8s %9llu %5u\n",
               report.phase == Phase::kTrain ? "train" : "test", static_cast<unsigned long long>(so_far.examples),
               report.seconds, so_far.mean_squared(), last.mean_squared(), log_seen_text(so_far).c_str(),
               log_seen_text(last).c_str(), static_cast<unsigned long long>(report.labels), report.depth_max);
}

void DistObserver::progress(std::uint64_t examples, double seconds, double part_of_pass) {
  run_.require_in_place();
  if (!bar_ || seconds <= 0) return;
  constexpr int kWidth = 30;
  const double rate = static_cast<double>(examples) / seconds;
  bar_shown_ = true;
  if (part_ < 0 || part_of_pass < part_) first_ = {seconds, part_of_pass};
  part_ = part_of_pass;
  if (part_of_pass <= 0) {
    std::fprintf(stderr, "\r\033[K%llu examples, %.0f/s", static_cast<unsigned long long>(examples), rate);
    return;
  }
  const int full = std::min(kWidth, static_cast<int>(std::lround(part_of_pass * kWidth)));
  std::fprintf(stderr, "\r\033[K[%s%s] %3.0f %%  %.0f/s", std::string(static_cast<std::size_t>(full), '#').c_str(),
               std::string(static_cast<std::size_t>(kWidth - full), '.').c_str(), part_of_pass * 100, rate);
  const double done = part_of_pass - first_.part_of_pass;
  if (done <= 0) return;
  const double left = (seconds - first_.seconds) * (1 - part_of_pass) / done;
  std::fprintf(stderr, "  %s left", clock_text(left).c_str());
}

void DistObserver::clear_bar() {
  if (!bar_shown_) return;
  std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

}  // namespace cpt
