#include "train/setup/run_setup.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/given_tree_files.h"
#include "api/model_files.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "comm/distribute_work.h"
#include "core/version.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/shards/shards.h"
#include "data/source/open_files.h"
#include "model/learning/learner.h"
#include "store/run/checkpoints.h"
#include "train/host/memory.h"
#include "train/host/table_size.h"
#include "train/input/split_files.h"
#include "train/partitioned/wire/tree_change_messages.h"
#include "train/placement/ownership.h"
#include "train/setup/known_labels.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

bool is_standard_input(const Shard& shard) { return shard.path == "-"; }

void check_pipes(const TrainingOptions& options, const std::vector<Shard>& data, const std::vector<Shard>& test,
                 int ranks) {
  if (ranks > 1 && (std::ranges::any_of(data, is_standard_input) || std::ranges::any_of(test, is_standard_input)))
    throw Error(Fault::kUsage, "standard input (-) can be read by one rank only");
  for (const Shard& shard : data) {
    if (shard.regular) continue;
    const std::string name = is_standard_input(shard) ? "standard input (-)" : shard.path;
    if (options.passes > 1) throw Error(Fault::kUsage, name + " cannot be read twice, as files can: use --passes 1");
    if (std::ranges::any_of(test, [&](const Shard& other) { return is_one_file(shard, other); }))
      throw Error(Fault::kUsage, name + " cannot be read twice: it cannot be both --data and --test");
  }
}

// Everything that must be the same on all ranks, in words. `init`: the digest of the model to begin with; 0 for none.
std::string fingerprint(const TrainingOptions& options, std::uint64_t init, const std::vector<Shard>& data,
                        const std::vector<Shard>& test) {
  std::ostringstream text;
  text.precision(17);
  const ModelOptions& m = options.model;
  text << kVersion << ' ' << kCommit << '\n'
       << static_cast<int>(m.method) << ' ' << m.arity << ' ' << static_cast<int>(m.tree) << ' ' << m.alpha << ' '
       << static_cast<int>(m.loss) << ' ' << static_cast<int>(m.update) << ' ' << m.learning_rate << ' ' << m.clip
       << ' ' << m.bits << ' ' << m.seed << ' ' << static_cast<int>(m.normalize);
  for (const std::string& pair : m.interactions) text << ' ' << pair;
  text << '\n'
       << options.given_tree << '\n'
       << options.labels << '\n'
       << options.auto_bits << ' ' << init << ' ' << static_cast<int>(options.placement) << ' ' << options.test_frozen
       << ' ' << static_cast<int>(options.format) << ' ' << static_cast<int>(options.multilabel) << ' ' << options.split
       << ' ' << options.passes << ' ' << static_cast<int>(options.merge) << ' ' << options.sync_fraction << ' '
       << options.sync_examples << ' ' << options.round_examples << ' ' << options.skip_bad_lines << ' '
       << options.most_bad_lines.value_or(~0ULL) << ' ' << options.checkpoints.directory << ' '
       << options.checkpoints.every.count() << ' ' << options.checkpoints.every_examples << ' '
       << options.checkpoints.keep << ' ' << options.resume << '\n';
  for (const Shard& shard : data) text << shard.path << ' ' << shard.bytes << '\n';
  for (const Shard& shard : test) text << "test " << shard.path << ' ' << shard.bytes << '\n';
  return text.str();
}

void compare_fingerprints(Communicator& comm, const std::string& mine) {
  if (const auto difference = find_difference(comm, hash_label(mine), "start: options")) {
    throw AgreedError(Fault::kUsage,
                      difference->rank +
                          " runs another build, has other options or sees other shards or another model than " +
                          rank_and_host(comm, 0) + ": names and sizes must be the same everywhere");
  }
}

// The checksums of all files' beginnings; each rank reads some of them.
std::vector<TrackedShard> recognize(const std::vector<Shard>& shards, Communicator& comm) {
  const std::vector<std::uint64_t> heads =
      distribute_work(comm, shards.size(), "start: shards", [&](std::size_t i) { return head_checksum(shards[i]); });
  std::vector<TrackedShard> known;
  for (std::size_t i = 0; i < shards.size(); ++i) known.push_back({shards[i], heads[i], 0, {}});
  return known;
}

// What is read of some files.
std::vector<TrackedShard> shards_of(const std::vector<Shard>& files, const TrainingOptions& options, Communicator& comm,
                                    std::vector<Shard>& whole) {
  return split_files(recognize(files, comm), options.split, comm, whole);
}

std::vector<Shard> plain(const std::vector<TrackedShard>& known) {
  std::vector<Shard> shards;
  for (const TrackedShard& shard : known) shards.push_back(shard.shard);
  return shards;
}

// How many of the shards this rank will have open at a time.
std::size_t share_of(const std::vector<TrackedShard>& known, const Communicator& comm) {
  return assign_shards(plain(known), comm.size())[static_cast<std::size_t>(comm.rank())].size();
}

std::function<bool(Partition)> own_partitions(const TrainingOptions& options, const Communicator& comm) {
  const bool all = !is_partitioned(options, comm);
  return
      [all, owners = first_owners(comm.size()), rank = comm.rank()](Partition p) { return all || owners[p] == rank; };
}

using FreeMemory = std::optional<std::uint64_t>;

TableUse table_use(const TrainingOptions& options, const Communicator& comm) {
  if (is_partitioned(options, comm)) return TableUse::kPartitioned;
  return options.learns() ? TableUse::kReplicated : TableUse::kOnlyRead;
}

void require_memory_for_table(const RunSetup& start, Communicator& comm, FreeMemory free, Table table) {
  require_memory(start.options.model, table_use(start.options, comm), comm, free, table);
}

// What was given anew takes the place of what the run began with, where that may change.
TrainingOptions options_to_go_on(const TrainingOptions& then, const TrainingOptions& now) {
  TrainingOptions options = then;
  options.passes = now.passes;
  options.skip_bad_lines = now.skip_bad_lines;
  options.most_bad_lines = now.most_bad_lines;
  if (!now.data.empty()) options.data = now.data;
  if (!now.test.empty()) options.test = now.test;
  if (options.placement == Placement::kPartitioned) options.round_examples = now.round_examples;
  options.checkpoints = now.checkpoints;
  options.resume = now.resume;
  return options;
}

void take_up_state(const TrainingOptions& options, RunState state, RunSetup& start) {
  start.options = options_to_go_on(state.options, options);
  start.options.validate();
  start.init_digest = state.init_digest;
  start.state = std::move(state);
}

void take_up_checkpoint(const TrainingOptions& options, Communicator& comm, FreeMemory free, const fs::path& checkpoint,
                        RunSetup& start) {
  run_on_all(comm, "resume", [&] { take_up_state(options, read_run_state(checkpoint), start); });
  require_memory_for_table(start, comm, free, Table::kKept);
  run_on_all(comm, "resume", [&] {
    start.model.reset();  // of a newer checkpoint that could not be read to its end
    start.model.emplace(load_checkpoint(checkpoint, own_partitions(start.options, comm)));
  });
}

// Newest first.
std::vector<fs::path> list_checkpoints(const fs::path& directory, Communicator& comm) {
  std::string text;
  run_on_all(comm, "resume: list", [&] {
    if (comm.rank() != 0) return;
    for (const Checkpoint& checkpoint : Checkpoints(directory).list())
      text = checkpoint.directory.string() + '\n' + text;
  });
  std::istringstream lines(broadcast_text(comm, text, 0, "resume: list"));
  std::vector<fs::path> paths;
  for (std::string line; std::getline(lines, line);) paths.emplace_back(line);
  return paths;
}

Resumption describe(const fs::path& checkpoint, std::vector<std::string> refused, const RunState& state) {
  Resumption resumption;
  resumption.checkpoint = checkpoint;
  resumption.refused = std::move(refused);
  resumption.finished = state.finished;
  resumption.phase = state.progress.phase;
  resumption.pass = state.progress.pass;
  resumption.examples = state.progress.examples;
  resumption.sync_points = state.progress.sync_points;
  resumption.ranks = state.ranks;
  return resumption;
}

// False if there is no checkpoint. Where one cannot be read, on whichever rank, all fall back to the one before it.
bool resume(const TrainingOptions& options, Communicator& comm, FreeMemory free, RunSetup& start) {
  const std::vector<fs::path> checkpoints = list_checkpoints(options.checkpoints.directory, comm);
  std::vector<std::string> refused;
  for (const fs::path& checkpoint : checkpoints) {
    try {
      take_up_checkpoint(options, comm, free, checkpoint, start);
      start.resumption = describe(checkpoint, std::move(refused), *start.state);
      return true;
    } catch (const Error& error) {
      if (error.fault() != Fault::kBadData && error.fault() != Fault::kNoInput) throw;
      refused.push_back(describe(error));
    }
  }
  if (checkpoints.empty()) return false;
  throw AgreedError(Fault::kBadData, "no checkpoint of " + options.checkpoints.directory.string() +
                                         " can be read; the newest: " + refused.front());
}

// What must be on this machine before anything is begun.
void begin(RunSetup& start) {
  if (!start.options.init.empty()) {
    const ModelHead head = read_model_head(start.options.init);
    start.options.model = head.options;
    start.init_digest = head.digest;
  }
  if (!start.options.model.is_tree()) start.options.placement = Placement::kReplicated;
}

// Test shards that are only predicted leave nothing in the table.
void choose_bits(RunSetup& start, std::vector<Shard> shards, const std::vector<Shard>& test, Communicator& comm,
                 FreeMemory free) {
  TrainingOptions& options = start.options;
  if (!options.test_frozen) shards.insert(shards.end(), test.begin(), test.end());
  TableSize size = fitting_table(options.model, wanted_bits(shards, comm), table_use(options, comm), comm, free);
  options.model.bits = size.bits;
  if (!size.warning.empty()) start.warnings.push_back(std::move(size.warning));
}

void make_model(RunSetup& start, Communicator& comm, FreeMemory free) {
  const std::string& init = start.options.init;
  require_memory_for_table(start, comm, free, init.empty() ? Table::kNew : Table::kKept);
  run_on_all(comm, "start: table", [&] {
    if (init.empty()) {
      start.model.emplace(std::make_unique<Learner>(start.options.model));
    } else {
      start.model.emplace(load_learner(init, own_partitions(start.options, comm)));
    }
  });
}

// A given tree is the first structure changes of the run. Rank 0 alone reads it: other hosts need not have the file.
void grow_given_tree(RunSetup& start, Communicator& comm) {
  std::vector<std::byte> packed;
  run_on_all(comm, "start: tree", [&] {
    if (comm.rank() != 0) return;
    packed = pack(read_given_tree(parse_tree_source(start.options.given_tree).value()));
  });
  broadcast_bytes(comm, packed, 0, "start: tree");
  run_on_all(comm, "start: tree", [&] {
    for (const TreeChange& change : unpack_changes(packed)) start.model->learner().apply(change);
  });
}

// What a run was begun with, and was not given anew, may be relative to another directory.
std::vector<Shard> find_shards_of(const std::vector<std::string>& patterns, const std::vector<std::string>& given,
                                  const char* option) {
  try {
    return find_shards(patterns);
  } catch (const Error& error) {
    if (patterns == given) throw;
    throw Error(error.fault(), std::string(error.what()) +
                                   "; the run was begun with it, in another directory perhaps: go there, or give " +
                                   option);
  }
}

}  // namespace

bool is_partitioned(const TrainingOptions& options, const Communicator& comm) {
  return comm.size() > 1 && options.placement == Placement::kPartitioned && options.model.is_tree();
}

RunSetup prepare(const TrainingOptions& options, Communicator& comm, std::optional<std::uint64_t> free) {
  RunSetup start;
  start.options = options;
  const bool resumed = options.resume && resume(options, comm, free, start);
  start.options.resume = resumed;
  std::vector<Shard> data;
  std::vector<Shard> test;
  run_on_all(comm, "start", [&] {
    start.options.validate();
    data = find_shards_of(start.options.data, options.data, "--data");
    test = find_shards_of(start.options.test, options.test, "--test");
    check_pipes(start.options, data, test, comm.size());
    if (!resumed) begin(start);
  });
  compare_fingerprints(comm, fingerprint(start.options, start.init_digest, data, test));
  const bool sizes_table = !resumed && start.options.init.empty() && start.options.auto_bits;
  if (sizes_table) choose_bits(start, data, test, comm, free);
  start.options.auto_bits = false;
  if (!resumed) make_model(start, comm, free);
  if (!resumed && !start.options.given_tree.empty()) grow_given_tree(start, comm);
  std::vector<Shard> whole;
  const std::vector<TrackedShard> known_data = shards_of(data, start.options, comm, whole);
  const std::vector<TrackedShard> known_test = shards_of(test, start.options, comm, whole);
  if (!whole.empty()) start.warnings.push_back(warning_of_whole_files(whole));
  const TraversalPlan::Options plan{start.options.passes, start.options.test_frozen};
  if (!resumed && start.options.init.empty() && start.options.model.method == Method::kPecoc) {
    learn_labels(start.options, plain(known_data), plain(known_test), comm, start.model->learner());
  }
  run_on_all(comm, "start", [&] {
    if (resumed) {
      start.plan.emplace(start.state->plan, known_data, known_test, plan);
      const std::vector<std::string>& warnings = start.plan->warnings();
      start.warnings.insert(start.warnings.end(), warnings.begin(), warnings.end());
    } else {
      // Not after hours of training.
      for (const auto* shards : {&known_data, &known_test}) allow_open_files(share_of(*shards, comm), kIfTooManyShards);
      start.plan.emplace(known_data, known_test, plan);
    }
  });
  return start;
}

}  // namespace cpt
