#include "train/setup/run_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "train/host/host.h"
#include "train/input/read_options.h"
#include "train/input/split_files.h"
#include "train/setup/table_size.h"

namespace cpt {

namespace {

// Shards that are previewed.
constexpr std::size_t kMostPreviews = 16;

std::uint64_t estimated_examples(const std::vector<Shard>& shards, const ReadOptions& options) {
  const std::size_t every = (shards.size() + kMostPreviews - 1) / kMostPreviews;
  ShardPreview sum;
  double content = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    content += static_cast<double>(content_bytes(shards[i]));
    if (i % every != 0) continue;
    const ShardPreview seen = preview(shards[i], options);
    sum.examples += seen.examples;
    sum.bytes += seen.bytes;
  }
  if (sum.bytes == 0) return 0;
  return static_cast<std::uint64_t>(
      std::llround(content * static_cast<double>(sum.examples) / static_cast<double>(sum.bytes)));
}

// Shards of a resumed run that are done may be gone.
std::vector<Shard> without_missing(std::vector<Shard> shards) {
  std::error_code unknown;
  std::erase_if(shards,
                [&](const Shard& shard) { return shard.regular && !std::filesystem::exists(shard.path, unknown); });
  return shards;
}

InputPlan plan_input(const std::vector<Shard>& shards, const std::vector<bool>& readers, const ReadOptions& options) {
  InputPlan plan{.readers = readers, .shards_of_rank = {}, .bytes_of_rank = {}};
  for (const std::vector<std::uint32_t>& mine : assign_shards(shards, readers)) {
    plan.shards_of_rank.push_back(mine.size());
    std::uint64_t& bytes = plan.bytes_of_rank.emplace_back(0);
    for (const std::uint32_t shard : mine) bytes += own_bytes(shards[shard]);
  }
  plan.examples_known = std::ranges::all_of(shards, &Shard::regular);
  if (plan.examples_known) plan.examples = estimated_examples(shards, options);
  return plan;
}

std::uint64_t table_bytes_of_rank(const TrainingOptions& options, const Communicator& comm) {
  return table_bytes(options.model, table_use(options, comm), comm) /
         static_cast<std::uint64_t>(ranks_on_this_host(comm));
}

}  // namespace

RunPlan plan_run(const RunSetup& setup, Communicator& comm, std::optional<std::uint64_t> free) {
  RunPlan plan;
  plan.options = setup.options;
  run_on_all(comm, "plan", [&] {
    if (comm.rank() != 0) return;
    const ReadOptions read = read_options(setup.options);
    const std::vector<bool> readers = readers_of(setup.options, comm);
    const std::vector<Shard> train = without_missing(setup.plan->shards(Phase::kTrain));
    const std::vector<Shard> test = without_missing(setup.plan->shards(Phase::kTest));
    plan.train = plan_input(train, readers, read);
    plan.test = plan_input(test, readers, read);
    plan.warnings = setup.warnings;
    const std::string idle = warning_of_idle_ranks(train.empty() ? test : train, readers, !setup.resumption);
    if (!idle.empty()) plan.warnings.push_back(idle);
    const std::vector<Shard>& first = train.empty() ? test : train;
    if (first.empty()) return;
    plan.first_path = first.front().path;
    if (first.front().regular) plan.first = preview(first.front(), read);
  });
  const WeightTable& weights = setup.learner->weights();
  const std::uint64_t calibration = weights.calibrators().bytes() + setup.learner->feature_counts().bytes();
  const std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least_free = unknown;
  for (const std::uint64_t bytes : all_gather_value(comm, table_bytes_of_rank(setup.options, comm), "plan"))
    plan.table_bytes = std::max(plan.table_bytes, bytes);
  for (const std::uint64_t bytes : all_gather_value(comm, calibration, "plan"))
    plan.calibration_bytes = std::max(plan.calibration_bytes, bytes);
  for (const std::uint64_t bytes : all_gather_value(comm, free.value_or(unknown), "plan"))
    least_free = std::min(least_free, bytes);
  if (least_free != unknown) plan.free_bytes = least_free;
  plan.checkpoint_bytes = most_checkpoint_bytes(setup);
  return plan;
}

}  // namespace cpt
