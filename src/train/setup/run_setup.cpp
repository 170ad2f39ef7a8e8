#include "train/setup/run_setup.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/model_files.h"
#include "api/options/given_tree_files.h"
#include "api/options/option_table.h"
#include "api/options/option_values.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "core/version.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"
#include "data/source/file_source.h"
#include "model/learning/learner.h"
#include "store/run/checkpoints.h"
#include "train/host/host.h"
#include "train/input/read_options.h"
#include "train/input/split_files.h"
#include "train/messages/tree_change_messages.h"
#include "train/placement/ownership.h"
#include "train/setup/input_check.h"
#include "train/setup/known_labels.h"
#include "train/setup/table_size.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// A run's input, as files or as shards.
template <class T>
struct Inputs {
  std::vector<T> data;
  std::vector<T> test;
  std::vector<T> validation;
};

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

void check_validation_shards(const std::vector<Shard>& shards) {
  for (const Shard& shard : shards) {
    if (shard.regular) continue;
    throw Error(Fault::kUsage, (is_standard_input(shard) ? "standard input (-)" : shard.path) +
                                   ": --validate needs files, because they are read again and again");
  }
}

// Reads the first example of each shard: validations come late, but what is wrong with their input should not.
void read_first_examples(const std::vector<Shard>& validation, const TrainingOptions& options) {
  bool any = validation.empty();
  for (const Shard& shard : validation) {
    ExampleStream stream({shard}, {0}, read_options(options));
    Batch batch = stream.make_batch();
    any |= stream.read(batch);
  }
  if (!any) throw Error(Fault::kBadData, "the shards of --validate have no example");
}

std::uint64_t digest_of_names(const std::vector<Shard>& shards) {
  std::string text;
  for (const Shard& shard : shards) text += shard.path + ' ' + std::to_string(shard.bytes) + '\n';
  return hash_label(text);
}

// Ranks may name the model and the shards by different paths: `init`, the digest of the initial model (0 for none), and
// the shards themselves are compared instead.
void compare_options(Communicator& comm, TrainingOptions options, std::uint64_t init, const Inputs<Shard>& files) {
  options.init.clear();
  options.data.clear();
  options.test.clear();
  options.validation.data.clear();
  const CheckpointOptions& checkpoints = options.checkpoints;
  std::vector<NamedDigest> all{
      {"another model of --init", init},
      {"other shards of --data", digest_of_names(files.data)},
      {"other shards of --test", digest_of_names(files.test)},
      {"other shards of --validate", digest_of_names(files.validation)},
      {"another table size", static_cast<std::uint64_t>(options.model.bits)},
      {"another directory of checkpoints", hash_label(checkpoints.directory.string())},
      {"another interval of checkpoints",
       hash_label(std::to_string(checkpoints.every.count()) + ' ' + std::to_string(checkpoints.every_examples))}};
  for (const TrainingOptionRow& row : training_option_table()) {
    all.push_back({"another --" + std::string(row.name), hash_label(row.binding.show(options))});
  }
  require_equal(comm, all, "start: options", Fault::kUsage,
                ": options, and the names and sizes of shards, must be the same everywhere");
}

// The checksums of all files' beginnings; each rank reads some of them.
std::vector<TrackedShard> with_heads(const std::vector<Shard>& shards, Communicator& comm) {
  const std::vector<std::uint64_t> heads =
      distribute_work(comm, shards.size(), "start: shards", [&](std::size_t i) { return head_checksum(shards[i]); });
  std::vector<TrackedShard> known;
  for (std::size_t i = 0; i < shards.size(); ++i) known.push_back({shards[i], heads[i], 0, {}});
  return known;
}

// The shards of some files.
std::vector<TrackedShard> shards_of(const std::vector<Shard>& files, const TrainingOptions& options, Communicator& comm,
                                    std::vector<Shard>& whole) {
  return split_files(with_heads(files, comm), options.split, comm, whole);
}

std::vector<Shard> plain(const std::vector<TrackedShard>& known) {
  std::vector<Shard> shards;
  for (const TrackedShard& shard : known) shards.push_back(shard.shard);
  return shards;
}

// The number of shards that this rank will have open at a time.
std::size_t shards_of_rank(const std::vector<TrackedShard>& known, const TrainingOptions& options,
                           const Communicator& comm) {
  return assign_shards(plain(known), readers_of(options, comm))[static_cast<std::size_t>(comm.rank())].size();
}

std::function<bool(Partition)> own_partitions(const TrainingOptions& options, const Communicator& comm) {
  const bool all = !is_partitioned(options, comm);
  const Roots roots = roots_of(options);
  const Owners owners = first_owners(comm.size(), options.model.trees, roots);
  return [all, roots, owners, rank = comm.rank()](Partition p) {
    const bool has_copy = roots == Roots::kOnEveryRank && partition_level(p) == 0;
    return all || has_copy || owners[p] == rank;
  };
}

using FreeMemory = std::optional<std::uint64_t>;

// How many shards a rank has open at a time; those of --validate are read while others wait.
std::uint64_t open_shards(std::size_t data, std::size_t test, std::size_t validation, const TrainingOptions& options,
                          const Communicator& comm) {
  const auto readers = static_cast<std::uint64_t>(std::ranges::count(readers_of(options, comm), true));
  return (std::max(data, test) + readers - 1) / readers + (validation + readers - 1) / readers;
}

void require_memory_for_table(const RunSetup& setup, std::uint64_t shards, Communicator& comm, FreeMemory free,
                              Table table) {
  require_memory(setup.options.model, table_use(setup.options, comm), shards, comm, free, table);
}

// Options given now replace those of the checkpoint where that is allowed.
void restore_state(const TrainingOptions& options, RunState state, RunSetup& setup) {
  setup.options = options_on_resume(state.options, options);
  setup.options.validate();
  setup.init_digest = state.init_digest;
  setup.state = std::move(state);
}

void restore_checkpoint(const TrainingOptions& options, Communicator& comm, FreeMemory free, const fs::path& checkpoint,
                        RunSetup& setup) {
  run_on_all(comm, "resume", [&] { restore_state(options, read_run_state(checkpoint), setup); });
  const TraversalState& plan = setup.state->plan;
  require_memory_for_table(setup, open_shards(plan.data.size(), plan.test.size(), 0, setup.options, comm), comm, free,
                           Table::kKept);
  run_on_all(comm, "resume", [&] {
    setup.learner.reset();  // of a newer checkpoint, if reading it failed
    setup.learner = load_checkpoint(checkpoint, own_partitions(setup.options, comm));
  });
}

// Newest first, also those that have lost their manifest, and with it what could be read: others must not be taken for
// the newest without a word. Rank 0 sends names only: they are digits, while the path of the run may hold any
// character.
std::vector<fs::path> list_checkpoints(const fs::path& directory, Communicator& comm) {
  std::string text;
  run_on_all(comm, "resume: list", [&] {
    if (comm.rank() != 0) return;
    const Checkpoints all(directory);
    for (const auto& some : {all.list(), all.without_manifest()}) {
      for (const Checkpoint& checkpoint : some) text = checkpoint.directory.filename().string() + '\n' + text;
    }
  });
  std::istringstream names(broadcast_text(comm, text, 0, "resume: list"));
  std::vector<fs::path> paths;
  for (std::string name; std::getline(names, name);) paths.push_back(directory / name);
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

// Returns false if there is no checkpoint. If any rank cannot read one, all ranks try the one before it.
bool resume(const TrainingOptions& options, Communicator& comm, FreeMemory free, RunSetup& setup) {
  run_on_all(comm, "resume", [&] { options.validate(); });
  const std::vector<fs::path> checkpoints = list_checkpoints(options.checkpoints.directory, comm);
  std::vector<std::string> refused;
  for (const fs::path& checkpoint : checkpoints) {
    try {
      restore_checkpoint(options, comm, free, checkpoint, setup);
      setup.resumption = describe(checkpoint, std::move(refused), *setup.state);
      return true;
    } catch (const Error& error) {
      if (error.fault() != Fault::kBadData && error.fault() != Fault::kNoInput) throw;
      refused.push_back(describe(error));
      setup.unusable.push_back(checkpoint);
    }
  }
  if (checkpoints.empty()) return false;
  throw AgreedError(Fault::kBadData, "no checkpoint of " + options.checkpoints.directory.string() +
                                         " can be read; the newest: " + refused.front());
}

// The initial model must be on this machine before the run starts.
void read_initial_model(RunSetup& setup) {
  if (!setup.options.init.empty()) {
    const ModelHead head = read_model_head(setup.options.init);
    setup.options.model = head.options;
    setup.init_digest = head.digest;
  }
  if (!setup.options.model.is_tree()) setup.options.placement = Placement::kReplicated;
}

// Test shards that are only predicted leave nothing in the table.
void choose_bits(RunSetup& setup, std::vector<Shard> shards, const std::vector<Shard>& test, Communicator& comm,
                 FreeMemory free) {
  TrainingOptions& options = setup.options;
  if (!options.test_frozen) shards.insert(shards.end(), test.begin(), test.end());
  const int wanted = wanted_bits(shards, read_options(options), comm);
  TableSize size = fitting_table(options.model, wanted, table_use(options, comm), comm, free);
  options.model.bits = size.bits;
  if (!size.warning.empty()) setup.warnings.push_back(std::move(size.warning));
}

void make_learner(RunSetup& setup, std::uint64_t shards, Communicator& comm, FreeMemory free) {
  const std::string& init = setup.options.init;
  require_memory_for_table(setup, shards, comm, free, init.empty() ? Table::kNew : Table::kKept);
  run_on_all(comm, "start: table", [&] {
    setup.learner = init.empty() ? std::make_unique<Learner>(setup.options.model)
                                 : load_learner(init, own_partitions(setup.options, comm));
  });
}

// A given tree is the first structure changes of the run. Rank 0 alone reads it: other hosts need not have the file.
void grow_given_tree(RunSetup& setup, Communicator& comm) {
  std::vector<std::byte> packed;
  run_on_all(comm, "start: tree", [&] {
    if (comm.rank() != 0) return;
    packed = pack(read_given_tree(parse_tree_source(setup.options.given_tree).value()));
  });
  broadcast_bytes(comm, packed, 0, "start: tree");
  run_on_all(comm, "start: tree", [&] {
    for (const TreeChange& change : unpack_changes(packed)) setup.learner->apply(change);
  });
}

// Patterns of the first start may be relative to another directory. Links to nothing are left out, with a warning,
// where bad lines are.
std::vector<Shard> find_shards_of(const std::vector<std::string>& patterns, const std::vector<std::string>& given,
                                  const char* option, RunSetup& setup) {
  std::function<void(const std::string&)> pass_over;
  if (setup.options.skip_bad_lines) {
    pass_over = [&](const std::string& path) {
      setup.warnings.push_back("skipped: " + path + ": is a link to nothing");
    };
  }
  try {
    return find_shards(patterns, pass_over);
  } catch (const Error& error) {
    if (patterns == given) throw;
    throw Error(error.fault(), std::string(error.what()) +
                                   "; the run started with it, in another directory perhaps: go there, or give " +
                                   option);
  }
}

Inputs<Shard> find_files(const TrainingOptions& given, RunSetup& setup) {
  const TrainingOptions& options = setup.options;
  Inputs<Shard> files;
  files.data = find_shards_of(options.data, given.data, "--data", setup);
  files.test = find_shards_of(options.test, given.test, "--test", setup);
  files.validation = find_shards_of(options.validation.data, given.validation.data, "--validate", setup);
  return files;
}

void warn_of_tested_data(const std::vector<Shard>& data, const std::vector<Shard>& test, const char* option,
                         RunSetup& setup) {
  const std::string both = find_in_both(data, test);
  if (both.empty()) return;
  setup.warnings.push_back(input_name(both) + ": is read as --data and as " + option +
                           ": losses on examples that were learned say little");
}

// A file that was compressed since is not recognized.
void warn_of_copies(const std::vector<TrackedShard>& data, RunSetup& setup) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, const Shard*> seen;  // by size and first bytes
  for (const TrackedShard& known : data) {
    const Shard& shard = known.shard;
    if (!shard.regular || shard.bytes == 0 || shard.part.index != 0) continue;
    const auto [first, is_first] = seen.emplace(std::pair(shard.bytes, known.head), &shard);
    if (is_first) continue;
    setup.warnings.push_back(shard.path + ": has the size and the first bytes of " + first->second->path +
                             "; if it is a copy, the same examples are learned twice");
    return;
  }
}

// A new checkpoint is complete before an old one goes. Those that are there already take no more.
void warn_of_full_disk(RunSetup& setup) {
  const CheckpointOptions& checkpoints = setup.options.checkpoints;
  const double bytes = static_cast<double>(most_checkpoint_bytes(setup));
  const auto free = bytes > 0 ? free_disk(checkpoints.directory) : std::nullopt;
  if (!free) return;
  const double known = static_cast<double>(Checkpoints(checkpoints.directory).list().size());
  const double most = bytes * std::max(1.0, static_cast<double>(checkpoints.keep) + 1 - known);
  if (most <= static_cast<double>(free->bytes)) return;
  setup.warnings.push_back(
      "checkpoints may take up to " + size_text(static_cast<std::uint64_t>(std::min(most, 0x1p63))) + " more, and " +
      size_text(free->bytes) + " are free in " + free->directory.string() + "; see --keep, --bits and --run");
}

// Files that were moved are the same data.
std::uint64_t digest_of(const std::vector<TrackedShard>& known) {
  if (known.empty()) return 0;
  std::string text;
  for (const TrackedShard& shard : known) {
    text += std::to_string(shard.shard.bytes) + ' ' + std::to_string(shard.head) + ' ' +
            std::to_string(shard.shard.part.index) + '/' + std::to_string(shard.shard.part.count) + '\n';
  }
  return hash_label(text);
}

// C4: the best value so far would be that of other data.
void require_same_validation(const RunSetup& setup) {
  const std::uint64_t then = setup.state->validation.data;
  if (setup.validation_digest == then) return;
  if (then == 0) throw Error(Fault::kUsage, "--validate: the run started without it");
  throw Error(Fault::kBadData,
              "the shards of --validate are not those of the checkpoint: names may differ, number and content may not, "
              "until a finished run goes on with new shards of --data");
}

// The shards of the files. Those of validation are known to the setup from here on.
Inputs<TrackedShard> split_into_shards(const Inputs<Shard>& files, Communicator& comm, RunSetup& setup) {
  std::vector<Shard> whole;
  Inputs<TrackedShard> shards;
  shards.data = shards_of(files.data, setup.options, comm, whole);
  shards.test = shards_of(files.test, setup.options, comm, whole);
  shards.validation = shards_of(files.validation, setup.options, comm, whole);
  setup.validation = plain(shards.validation);
  for (const TrackedShard& shard : shards.validation) setup.validation_heads.push_back(shard.head);
  setup.validation_digest = digest_of(shards.validation);
  if (!whole.empty()) setup.warnings.push_back(warning_of_whole_files(whole));
  return shards;
}

// C7 holds for any number of ranks only if each owns a part.
void warn_of_other_ranks(const Communicator& comm, RunSetup& setup) {
  const int then = setup.state->ranks;
  if (setup.options.placement == Placement::kPartitioned || then == comm.size() || setup.plan->finished()) return;
  setup.warnings.push_back("--placement " + name_of(placement_names(), setup.options.placement) +
                           ": the checkpoint is of " + std::to_string(then) + (then == 1 ? " rank" : " ranks") +
                           ", this job has " + std::to_string(comm.size()) +
                           ": the result will differ from that of a run that was never interrupted");
}

void make_plan(const Inputs<TrackedShard>& shards, Communicator& comm, RunSetup& setup) {
  const TraversalPlan::Options options{setup.options.passes, setup.options.test_frozen};
  if (setup.state) {
    setup.plan.emplace(setup.state->plan, shards.data, shards.test, options);
    if (!setup.begins_stage()) require_same_validation(setup);
    setup.resumption->has_nothing_to_do = setup.plan->finished();
    const std::vector<std::string>& warnings = setup.plan->warnings();
    setup.warnings.insert(setup.warnings.end(), warnings.begin(), warnings.end());
    warn_of_other_ranks(comm, setup);
    return;
  }
  // Not after hours of training.
  const std::size_t validated = shards_of_rank(shards.validation, setup.options, comm);
  for (const auto* phase : {&shards.data, &shards.test})
    allow_open_files(shards_of_rank(*phase, setup.options, comm) + validated, kIfTooManyShards);
  setup.plan.emplace(shards.data, shards.test, options);
}

}  // namespace

bool is_partitioned(const TrainingOptions& options, const Communicator& comm) {
  return comm.size() > 1 && options.placement != Placement::kReplicated && options.model.is_tree();
}

std::vector<bool> readers_of(const TrainingOptions& options, const Communicator& comm) {
  if (!is_partitioned(options, comm)) return std::vector<bool>(static_cast<std::size_t>(comm.size()), true);
  return readers_beside_roots(comm.size(), options.model.trees, roots_of(options));
}

std::uint64_t most_checkpoint_bytes(const RunSetup& setup) {
  if (setup.options.checkpoints.keep == 0 || setup.options.checkpoints.directory.empty()) return 0;
  const WeightTable& weights = setup.learner->weights();
  return weights.bytes() + weights.calibrators().bytes() + setup.learner->feature_counts().bytes();
}

TableUse table_use(const TrainingOptions& options, const Communicator& comm) {
  if (is_partitioned(options, comm)) {
    return roots_of(options) == Roots::kOwned ? TableUse::kPartitioned : TableUse::kHybrid;
  }
  return options.learns() ? TableUse::kReplicated : TableUse::kOnlyRead;
}

RunSetup prepare_run(const TrainingOptions& options, Communicator& comm, std::optional<std::uint64_t> free) {
  RunSetup setup;
  setup.options = options;
  // First, because the ranks that resume read checkpoints together.
  require_equal(comm,
                {{"another build of this program", hash_label(std::string(kVersion) + ' ' + kCommit)},
                 {"another --resume", options.resume}},
                "start: resume", Fault::kUsage);
  const bool resumed = options.resume && resume(options, comm, free, setup);
  setup.options.resume = resumed;
  Inputs<Shard> files;
  run_on_all(comm, "start", [&] {
    setup.options.validate();
    files = find_files(options, setup);
    check_pipes(setup.options, files.data, files.test, comm.size());
    check_validation_shards(files.validation);
    if (!resumed) read_initial_model(setup);
  });
  compare_options(comm, setup.options, setup.init_digest, files);
  run_on_all(comm, "start: validation", [&] {
    if (comm.rank() == 0) read_first_examples(files.validation, setup.options);
  });
  const bool sizes_table = !resumed && setup.options.init.empty() && setup.options.auto_bits;
  if (sizes_table) choose_bits(setup, files.data, files.test, comm, free);
  setup.options.auto_bits = false;
  const std::uint64_t open = setup.options.split * open_shards(files.data.size(), files.test.size(),
                                                               files.validation.size(), setup.options, comm);
  if (!resumed) make_learner(setup, open, comm, free);
  if (!resumed && !setup.options.given_tree.empty()) grow_given_tree(setup, comm);
  warn_of_tested_data(files.data, files.test, "--test", setup);
  warn_of_tested_data(files.data, files.validation, "--validate", setup);
  if (!resumed && comm.rank() == 0) check_input(files.data, files.test, files.validation, setup);
  const Inputs<TrackedShard> shards = split_into_shards(files, comm, setup);
  warn_of_copies(shards.data, setup);
  if (!resumed && setup.options.init.empty() && setup.options.model.method == Method::kPecoc) {
    learn_labels(setup.options, plain(shards.data), plain(shards.test), comm, *setup.learner);
  }
  run_on_all(comm, "start", [&] {
    make_plan(shards, comm, setup);
    if (comm.rank() != 0) return;
    if (resumed) check_input(setup.plan->new_shards(Phase::kTrain), setup.plan->new_shards(Phase::kTest), {}, setup);
    warn_of_full_disk(setup);
  });
  return setup;
}

}  // namespace cpt
