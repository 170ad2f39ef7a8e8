// The observer of cpt_dist on rank 0: it prints the progress table and bar and writes metrics.jsonl and log.txt.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/dist/options/dist_options.h"
#include "app/dist/run_files.h"
#include "store/run/run_directory.h"
#include "train/training.h"

namespace spdlog {
class logger;
}

namespace cpt {

// Throws Error(kCannotWrite) if a file of the run directory cannot be written.
class DistObserver : public Observer {
 public:
  // With a resumption, the files of the run directory are continued. Borrows `run`. Calls that report throw once the
  // run directory is no longer in its place.
  DistObserver(const DistOptions& options, RunDirectory& run, int ranks, const std::optional<Resumption>& resumption);
  ~DistObserver() override;

  void report(const Report& report) override;
  void warn(const std::string& text) override;
  void rebalanced(const Balance& balance, std::uint64_t interval) override;
  void checkpointed(const CheckpointReport& report) override;
  void progress(std::uint64_t examples, double seconds, double part_of_pass) override;
  void validated(const Validation& validation) override;
  void stretch(const Stretch& stretch) override;

  void info(const std::string& text);
  // Writes to the log and, if progress is shown, to standard error. Not while a bar is shown.
  void tell(const std::string& text);
  // Writes to the log; a failure to do so is ignored, because a full disk may have caused the error itself.
  void error(const std::string& text) noexcept;

 private:
  void print_row(const Report& report);
  void clear_bar();

  RunDirectory& run_;
  const Metric metric_;  // of validations
  bool table_;
  bool bar_;
  bool bar_shown_ = false;
  double part_ = -1;  // of the pass when the bar was last drawn; negative if it never was
  // When the bar was first drawn in this pass, or after a resume.
  struct FirstDrawn {
    double seconds = 0;  // since training began
    double part_of_pass = 0;
  };
  FirstDrawn first_;
  bool header_shown_ = false;
  Phase phase_ = Phase::kTrain;
  LineFile metrics_;
  std::shared_ptr<spdlog::logger> log_;
};

}  // namespace cpt
