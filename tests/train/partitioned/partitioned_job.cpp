#include "train/partitioned/partitioned_job.h"

#include <ostream>

#include "comm/on_machines.h"

namespace cpt {

Outcome outcome_on(int ranks, const TrainingOptions& options, Staging staging) {
  Recorder recorder;
  staging.observer = &recorder;
  const std::vector<TrainingResult> results = results_on(ranks, options, staging);
  const Summary& summary = results[0].summary;
  for (const TrainingResult& result : results) {
    EXPECT_EQ(result.summary.tree.digest, summary.tree.digest);
    EXPECT_EQ(result.summary.weight_digest, summary.weight_digest);
    EXPECT_EQ(result.model.owners(), results[0].model.owners());
  }
  return {.tree = summary.tree.digest,
          .weights = summary.weight_digest,
          .rows_used = summary.rows_used,
          .disagreements = summary.tree.disagreements,
          .bad_lines = summary.train_error_lines + summary.test_error_lines,
          .train = summary.train,
          .test = summary.test,
          .reports = recorder.reports};
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.tree, b.tree);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.rows_used, b.rows_used);
  EXPECT_EQ(a.disagreements, b.disagreements);
  EXPECT_EQ(a.bad_lines, b.bad_lines);
  expect_same_losses(a.train, b.train);
  expect_same_losses(a.test, b.test);
  ASSERT_EQ(a.reports.size(), b.reports.size());
  for (std::size_t i = 0; i < a.reports.size(); ++i) {
    SCOPED_TRACE("report " + std::to_string(i));
    EXPECT_EQ(a.reports[i].phase, b.reports[i].phase);
    EXPECT_EQ(a.reports[i].labels, b.reports[i].labels);
    EXPECT_EQ(a.reports[i].depth_max, b.reports[i].depth_max);
    expect_same_losses(a.reports[i].so_far, b.reports[i].so_far);
    expect_same_losses(a.reports[i].since_last, b.reports[i].since_last);
  }
}

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.ranks << " ranks on " << layout.machines << " machines";
}

std::string name_of_layout(const ::testing::TestParamInfo<Layout>& test) {
  return std::to_string(test.param.ranks) + "On" + std::to_string(test.param.machines);
}

Staging PartitionedJob::staging() {
  Staging staging;
  staging.wrap = [](Communicator& comm) { return std::make_unique<OnMachines>(comm, GetParam().machines); };
  return staging;
}

PartitionedJob::PartitionedJob() {
  options_.placement = Placement::kPartitioned;
  options_.model.bits = 16;
  options_.sync_examples = 400;
}

void PartitionedJob::add_data(const Shards& shards) {
  for (const std::string& shard : shards) {
    options_.data.push_back(folder_.write("data" + std::to_string(options_.data.size()), shard));
  }
}

void PartitionedJob::expect_that_of_one_rank() const {
  const Outcome one = outcome_on(1, options_);
  expect_same(outcome_on(ranks(), options_, staging()), one);
}

}  // namespace cpt
