#include "train/checkpoint/resumed_job.h"

#include <atomic>
#include <memory>

namespace cpt {

namespace {

Staging asking(const Ask& ask) {
  Staging staging;
  staging.options_of = [ask](int rank, TrainingOptions& options) {
    if (rank != ask.rank) return;
    options.checkpoints.requested = [ask, calls = std::uint64_t{0}]() mutable {
      return ++calls == ask.call ? ask.request : Request::kNone;
    };
  };
  return staging;
}

class FailingReporter : public Recorder {
 public:
  explicit FailingReporter(std::size_t at) : at_(at) {}
  void report(const Report& report) override {
    Recorder::report(report);
    if (reports.size() == at_) throw Error(Fault::kFailed, "the observer is gone");
  }

 private:
  std::size_t at_;
};

}  // namespace

ResumedJob::ResumedJob() {
  options.model.bits = 14;
  options.sync_examples = 300;
}

void ResumedJob::add_data(const std::vector<std::string>& shards) {
  for (const std::string& shard : shards) {
    options.data.push_back(folder_->write("data" + std::to_string(options.data.size()), shard));
  }
}

void ResumedJob::set_test(const std::vector<std::string>& shards) {
  for (const std::string& shard : shards) {
    options.test.push_back(folder_->write("test" + std::to_string(options.test.size()), shard));
  }
}

void ResumedJob::add_shard(const std::string& name, const std::string& content) {
  options.data.push_back(folder_->write(name, content));
}

TrainingOptions ResumedJob::resumable() const {
  TrainingOptions with = options;
  with.checkpoints.directory = checkpoints();
  with.resume = true;
  return with;
}

Outcome ResumedJob::straight(int ranks) const { return outcome_on(ranks, options); }

void ResumedJob::run_until(int ranks, const Ask& ask) {
  Recorder recorder;
  Staging staging = asking(ask);
  staging.observer = &recorder;
  for (const Ending& ending : train_on(ranks, resumable(), staging)) {
    EXPECT_EQ(ending.fault, Fault::kStopped) << ending.error;
    EXPECT_TRUE(ending.agreed);
  }
  reports_.insert(reports_.end(), recorder.reports.begin(), recorder.reports.end());
}

void ResumedJob::run_until_report(int ranks, std::size_t n) {
  FailingReporter reporter(n);
  Staging staging;
  staging.observer = &reporter;
  for (const Ending& ending : train_on(ranks, resumable(), staging)) {
    EXPECT_EQ(ending.fault, Fault::kFailed) << ending.error;
  }
}

Outcome ResumedJob::finish(int ranks) { return finish(ranks, {.request = Request::kNone}); }

Outcome ResumedJob::finish(int ranks, const Ask& ask) {
  Outcome outcome = outcome_on(ranks, resumable(), asking(ask));
  outcome.reports.insert(outcome.reports.begin(), reports_.begin(), reports_.end());
  reports_.clear();
  return outcome;
}

std::uint64_t ResumedJob::calls(int ranks, int rank) const {
  const auto count = std::make_shared<std::atomic<std::uint64_t>>(0);
  Staging staging;
  staging.options_of = [&](int of, TrainingOptions& with) {
    if (of != rank) return;
    with.checkpoints.requested = [count] {
      ++*count;
      return Request::kNone;
    };
  };
  train_on(ranks, options, staging);
  return *count;
}

}  // namespace cpt
