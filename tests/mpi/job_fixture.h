// The fixture of tests of jobs: shards to learn, jobs in one line, and the files that a run leaves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/folder.h"
#include "mpi/job_process.h"

namespace cpt::testing {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Sanitizers make everything slower by this factor.
inline constexpr int kSlowdown = CPT_SLOWDOWN;
// Many more ranks than cores and shards; sanitized ones take minutes to start and end.
inline constexpr int kManyRanks = kSlowdown == 1 ? 64 : 8;
// A job that fails ends within this time.
inline constexpr std::chrono::seconds kSoon{30 * kSlowdown};
inline constexpr std::chrono::seconds kLongEnough{120 * kSlowdown};

// Exit codes of cpt_dist.
inline constexpr int kUsage = 2;
inline constexpr int kBadData = 65;
inline constexpr int kNoInput = 66;
inline constexpr int kCannotWrite = 73;
inline constexpr int kStoppedOnRequest = 75;

inline constexpr int kLabels = 40;

// Lines in vw format whose features determine the label, the same in every call; all kLabels occur in 400 of them.
std::string stream(int examples, unsigned seed = 1);

Words joined(Words first, const Words& second);
Words lines_of(const std::string& text);
// The lines of standard error that say why cpt_dist failed.
Words reasons_in(const Outcome& outcome);

class JobTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path(name); }
  // Makes a file; returns its path.
  std::string file(const std::string& name, const std::string& content) const { return folder_.write(name, content); }
  // Makes six shards of 1500 examples in all; returns their folder.
  std::string shards() const;

  std::filesystem::path run_directory() const { return path("run"); }
  // The command line that trains on these paths, quickly, in place of an earlier job, and then says more.
  Words train(const Words& data, const Words& more = {}) const;

  // Under mpirun, on its own, or under a launcher's whole command line. Jobs of one test may run at the same time.
  std::unique_ptr<Job> start(int ranks, const Words& arguments, const Launch& launch = {});
  std::unique_ptr<Job> start_alone(const Words& arguments, const Launch& launch = {});
  std::unique_ptr<Job> start_command(const Words& command, const Launch& launch = {});
  // The command as a user without privileges starts it, for whom all files of the test so far are readable and
  // writable; nothing if root starts the tests and that user cannot run the program.
  std::optional<Words> as_plain_user(const Words& command);
  Outcome run(int ranks, const Words& arguments, const Launch& launch = {});
  Outcome run_alone(const Words& arguments, const Launch& launch = {});

  // Waits until the job has learned something and reported it.
  void wait_until_learning() const;

  Json summary() const;
  // The figures in the summary that must not depend on ranks and times: losses, tree, weights.
  Json figures() const;
  // The same of the reports so far.
  std::vector<Json> reports() const;
  // Of metrics.jsonl; all fail the test if a line is not valid JSON.
  std::vector<Json> metrics() const;  // the reports
  std::vector<Json> stretches() const;
  std::vector<Json> changes_of_owners() const;
  std::vector<Json> checkpoints_told() const;
  std::vector<Json> validations_told() const;
  Words log() const;

  // All results are there, and the model can be read and is the one that the summary describes.
  void expect_complete() const;
  // It ended well, too.
  void expect_complete(const Outcome& outcome) const;
  // It ended with this code and one error message, and left no results.
  void expect_failed(const Outcome& outcome, int code, const ::testing::Matcher<std::string>& reason) const;
  // No summary, and no model but that of an earlier job.
  void expect_no_results() const;
  // Of the model in the run directory; empty if there is none.
  std::string model_manifest() const;

 private:
  std::filesystem::path new_job_folder();
  std::vector<Json> metrics_lines() const;
  std::vector<Json> metrics_of(const std::string& phase) const;

  Folder folder_;
  int jobs_ = 0;
  std::string earlier_model_;  // model_manifest() when the latest job was started
};

}  // namespace cpt::testing
