// A training job in a test: shards in a temporary folder, ranks that are threads, and the result or error of each rank.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "model/learning/learner.h"
#include "train/training.h"

namespace cpt {

// A folder of its own, removed with all it holds.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // Makes a file; returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

// Random examples in vw format. New labels come at even distances, at the same lines whatever the seed: shards that
// differ in their seeds only meet the same new labels in the same rounds.
struct Lines {
  std::uint64_t seed = 1;
  std::size_t examples = 400;
  std::size_t labels = 60;
  std::size_t first_label = 0;  // "label-N", N counted from here
};
std::string random_lines(const Lines& lines);
// The labels of vw lines.
std::set<std::string> labels_of(const std::string& lines);

// Options that make a small, quick job.
TrainingOptions small_job();

// The name of a test parameter that is a placement.
std::string name_of_placement(const ::testing::TestParamInfo<Placement>& test);

// Keeps reports and warnings.
class Recorder : public Observer {
 public:
  void report(const Report& report) override { reports.push_back(report); }
  void warn(const std::string& text) override { warnings.push_back(text); }
  void progress(std::uint64_t, double, double) override {}

  std::vector<Report> reports;
  std::vector<std::string> warnings;
};

// The result or the error of a rank.
struct Ending {
  std::optional<TrainingResult> result;
  std::string error;  // with its causes
  std::optional<Fault> fault;
  bool agreed = false;  // the error is an AgreedError
};

// The special conditions of a job.
struct Staging {
  Observer* observer = nullptr;                                           // of rank 0
  std::function<void(int rank, TrainingOptions&)> options_of = {};        // changes those of one rank
  std::function<std::unique_ptr<Communicator>(Communicator&)> wrap = {};  // around each rank's communicator
  std::filesystem::path model = {};                                       // where the run writes it; empty: not
};

// Trains on this many ranks, as run_ranks().
std::vector<Ending> train_on(int ranks, const TrainingOptions& options, const Staging& staging = {});
// The same where no rank may fail.
std::vector<TrainingResult> results_on(int ranks, const TrainingOptions& options, const Staging& staging = {});

// Two models with equal digests are equal.
struct Digests {
  std::uint64_t structure = 0;
  std::uint64_t weights = 0;
  bool operator==(const Digests&) const = default;
};
Digests digests_of(const Learner& learner);
Digests digests_of(const Model& model);
Digests digests_of(const ModelShare& model);
void PrintTo(const Digests& digests, std::ostream* out);

std::set<std::string> labels_in(const Learner& learner);
// By the public interface only.
std::set<std::string> labels_in(const Model& model);

// Bit for bit.
void expect_same_losses(const Losses& a, const Losses& b);

// The fault and the text of what `action` throws.
struct Thrown {
  std::optional<Fault> fault;
  std::string text;
};
Thrown thrown_by(const std::function<void()>& action);
// What a rank throws that was sent something wrong.
void expect_protocol_error(const Thrown& thrown);

// Runs `action` on this many ranks. A call that waits for half a minute throws: a test fails, it never hangs.
void run_ranks(int ranks, const std::function<void(Communicator&)>& action);
// The same; what all ranks throw: on several ranks the same AgreedError.
Thrown thrown_by_all(int ranks, const std::function<void(Communicator&)>& action);

}  // namespace cpt
