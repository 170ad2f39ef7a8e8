#include "corrupt/kept_run.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "comm/threads/threads.h"
#include "store/run/checkpoints.h"

namespace cpt {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

namespace {

// So that the damage of every byte can be tried: few examples, few labels, the smallest table.
TrainingOptions tiny_job(Placement placement) {
  TrainingOptions options = small_job();
  options.placement = placement;
  options.model.bits = kLeastBits;
  options.sync_examples = 60;
  options.round_examples = 30;
  return options;
}

// Ends the run when the second checkpoint is written. (A request to stop would let replicas merge early.)
class Breakdown : public Recorder {
 public:
  void checkpointed(const CheckpointReport&) override {
    if (++written_ == 2) throw Error(Fault::kFailed, "broken down");
  }

 private:
  int written_ = 0;
};

std::map<fs::path, ByteVector> content_below(const fs::path& directory) {
  std::map<fs::path, ByteVector> content;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) content[entry.path()] = content_of(entry.path());
  }
  return content;
}

}  // namespace

ByteVector content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void write_file(const fs::path& file, const ByteVector& content) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
}

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << std::hex << "tree " << outcome.tree << ", weights " << outcome.weights << std::dec << ", " << outcome.examples
       << " examples, log loss " << outcome.log_loss;
}

KeptRun::KeptRun(Placement placement, int ranks) : ranks_(ranks), options_(tiny_job(placement)) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::string lines = random_lines({.seed = seed, .examples = 400, .labels = 20});
    options_.data.push_back(folder_.write("shard-" + std::to_string(seed), lines));
  }
  TrainingOptions options = options_;
  options.checkpoints.directory = folder_ / "checkpoints";
  options.checkpoints.every_examples = 100;
  options_.checkpoints.directory = options.checkpoints.directory;
  options_.checkpoints.keep = 0;
  Breakdown breakdown;
  for (const Ending& ending : train_on(ranks, options, {.observer = &breakdown})) {
    EXPECT_THAT(ending.error, HasSubstr("broken down"));
  }
  for (const Checkpoint& checkpoint : Checkpoints(options.checkpoints.directory).list()) {
    checkpoints_.push_back(checkpoint.directory);
  }
  EXPECT_EQ(checkpoints_.size(), 2U);
  content_ = content_below(options.checkpoints.directory);
}

std::vector<fs::path> KeptRun::files() const {
  std::vector<fs::path> files;
  for (const auto& [file, content] : content_) {
    if (file.parent_path() == newest()) files.push_back(file);
  }
  return files;
}

void KeptRun::restore() const {
  for (const fs::path& checkpoint : checkpoints_) {
    fs::remove_all(checkpoint);
    fs::create_directory(checkpoint);
  }
  for (const auto& [file, content] : content_) write_file(file, content);
}

Beginning KeptRun::begin() const {
  TrainingOptions options = options_;
  options.resume = true;
  std::vector<Beginning> beginnings(static_cast<std::size_t>(ranks_));
  run_threads(ranks_, [&](Communicator& comm) {
    comm.set_stall_timeout(std::chrono::seconds(30));
    Beginning& beginning = beginnings[static_cast<std::size_t>(comm.rank())];
    try {
      beginning.resumption = Training(options, comm).resumption();
    } catch (const std::exception& error) {
      beginning.fault = fault_of(error);
      beginning.error = describe(error);
    }
  });
  // One rank's damage is everyone's.
  for (const Beginning& beginning : beginnings) {
    EXPECT_EQ(beginning.fault, beginnings[0].fault);
    EXPECT_EQ(beginning.resumption.has_value(), beginnings[0].resumption.has_value());
    if (!beginning.resumption || !beginnings[0].resumption) continue;
    EXPECT_EQ(beginning.resumption->checkpoint, beginnings[0].resumption->checkpoint);
    EXPECT_EQ(beginning.resumption->refused, beginnings[0].resumption->refused);
  }
  return beginnings[0];
}

namespace {

Outcome outcome_of(int ranks, const TrainingOptions& options) {
  const Summary summary = results_on(ranks, options)[0].summary;
  return {summary.tree.digest, summary.weight_digest, summary.train.examples, summary.train.log};
}

}  // namespace

Outcome KeptRun::finish() const {
  TrainingOptions options = options_;
  options.resume = true;
  return outcome_of(ranks_, options);
}

Outcome KeptRun::straight() const { return outcome_of(ranks_, options_); }

void KeptRun::expect_fallback(const fs::path& culprit) const {
  const Beginning beginning = begin();
  ASSERT_TRUE(beginning.resumption) << beginning.error;
  EXPECT_EQ(beginning.resumption->checkpoint, older());
  ASSERT_EQ(beginning.resumption->refused.size(), 1U);
  EXPECT_THAT(beginning.resumption->refused[0], HasSubstr(culprit.string()));
}

void KeptRun::expect_fallback_to_the_end(const fs::path& culprit) const {
  expect_fallback(culprit);
  EXPECT_EQ(finish(), straight());
}

void KeptRun::expect_refusal() const {
  const auto before = content_below(newest().parent_path());
  const Beginning beginning = begin();
  EXPECT_EQ(beginning.fault, Fault::kBadData);
  EXPECT_THAT(beginning.error, HasSubstr("no checkpoint of " + newest().parent_path().string() + " can be read"));
  EXPECT_THAT(beginning.error, HasSubstr(newest().string()));
  EXPECT_EQ(content_below(newest().parent_path()), before);
}

}  // namespace cpt
