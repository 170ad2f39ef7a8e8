#include <fmt/chrono.h>
#include <sys/stat.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/checkpoint/checkpoint_reader.h"
#include "app/cpt/commands.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"
#include "cpt/error.h"
#include "store/run/checkpoints.h"
#include "store/run/run_directory.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kCheckpointFooter =
    R"(Examples:
  cpt checkpoint list runs/ads
  cpt checkpoint verify runs/ads
  cpt checkpoint prune runs/ads --keep 1

The column "examples" counts those of the current stage; for a finished run, those of its last one.)";

struct CheckpointCommand {
  fs::path run;
  bool json = false;
  std::uint64_t keep = 1;
};

// A row of `cpt checkpoint list`.
struct ListedCheckpoint {
  Checkpoint checkpoint;
  std::string written;  // local time
  std::uint64_t bytes = 0;
  std::string stage;  // "train 1", "test", "finished"
  std::uint64_t examples = 0;
  int ranks = 0;
  std::string damage;  // the reason why the fields above are unknown, or empty
};

// Lists the checkpoints of a run. A run may have none (--checkpoint-every never), but its directory has a lock file.
std::vector<Checkpoint> checkpoints_of(const fs::path& run) {
  std::error_code failure;
  if (!fs::is_directory(run, failure)) {
    const bool is_missing = !failure || failure == std::errc::no_such_file_or_directory;
    throw Error(Fault::kNoInput, run.string() + (is_missing ? ": no such run directory" : ": " + failure.message()));
  }
  std::vector<Checkpoint> checkpoints = Checkpoints(run / "checkpoints").list();
  if (checkpoints.empty() && !fs::exists(run / "lock", failure)) {
    throw Error(Fault::kNoInput,
                run.string() + ": is not a run directory and has no checkpoints; give the directory of --run");
  }
  if (checkpoints.empty()) std::fprintf(stderr, "cpt: %s: has no checkpoints\n", run.c_str());
  return checkpoints;
}

std::string time_written(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return "unknown";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(status.st_mtime));
}

std::string stage_of(const RunState& state) {
  if (state.finished) return "finished";
  const Phase phase = state.progress.phase;
  return phase == Phase::kTest ? "test" : "train " + std::to_string(state.progress.pass);
}

// Empty if a running job has removed the checkpoint since it was listed.
std::optional<ListedCheckpoint> read_row(const Checkpoint& checkpoint) {
  ListedCheckpoint row;
  row.checkpoint = checkpoint;
  row.written = time_written(checkpoint.directory / "MANIFEST");
  try {
    const RunState state = read_run_state(checkpoint.directory);
    row.bytes = bytes_of_checkpoint(checkpoint.directory);
    row.stage = stage_of(state);
    row.examples = state.progress.examples;
    row.ranks = state.ranks;
  } catch (const Error& error) {
    if (was_removed(checkpoint)) return std::nullopt;
    row.damage = describe(error);
  }
  return row;
}

std::string text_of(const ListedCheckpoint& row) {
  const std::string name = row.checkpoint.directory.filename().string();
  if (!row.damage.empty()) return fmt::format("{}  {}  {}\n", name, row.written, row.damage);
  return fmt::format("{}  {}  {:<9}  {:>13}  {:>5}  {:>10.1f}\n", name, row.written, row.stage, row.examples, row.ranks,
                     static_cast<double>(row.bytes) / 1e6);
}

Json json_of(const ListedCheckpoint& row) {
  Json json{
      {"number", row.checkpoint.number}, {"directory", row.checkpoint.directory.string()}, {"written", row.written}};
  if (!row.damage.empty()) {
    json["damage"] = row.damage;
    return json;
  }
  json["stage"] = row.stage;
  json["examples"] = row.examples;
  json["ranks"] = row.ranks;
  json["bytes"] = row.bytes;
  return json;
}

void list(const CheckpointCommand& command) {
  std::vector<ListedCheckpoint> rows;
  for (const Checkpoint& checkpoint : checkpoints_of(command.run)) {
    if (auto row = read_row(checkpoint)) rows.push_back(std::move(*row));
  }
  ResultWriter out;
  if (command.json) {
    Json json = Json::array();
    for (const ListedCheckpoint& row : rows) json.push_back(json_of(row));
    out.print("{}\n", json_text(json, 2));
  } else {
    if (!rows.empty()) out.print("number     written              stage           examples  ranks          MB\n");
    for (const ListedCheckpoint& row : rows) out.print("{}", text_of(row));
  }
  out.finish();
}

struct Verdict {
  bool whole;
  std::string text;
};

// Empty if a running job has removed the checkpoint since it was listed.
std::optional<Verdict> read_verdict(const Checkpoint& checkpoint) {
  try {
    const std::uint64_t bytes = verify_checkpoint(checkpoint.directory);
    const auto megabytes = static_cast<double>(bytes) / 1e6;
    return Verdict{true, fmt::format("{}: whole, {:.1f} MB", checkpoint.directory.string(), megabytes)};
  } catch (const Error& error) {
    if (was_removed(checkpoint)) return std::nullopt;
    return Verdict{false, describe(error)};
  }
}

void verify(const CheckpointCommand& command) {
  std::uint64_t read = 0;
  std::uint64_t damaged = 0;
  ResultWriter out;
  for (const Checkpoint& checkpoint : checkpoints_of(command.run)) {
    const std::optional<Verdict> verdict = read_verdict(checkpoint);
    if (!verdict) continue;
    ++read;
    if (!verdict->whole) ++damaged;
    out.print("{}\n", verdict->text);
  }
  out.finish();
  if (damaged == 0) return;
  throw Error(Fault::kBadData,
              fmt::format("{} of {} checkpoints of {} cannot be used", damaged, read, command.run.string()));
}

void prune(const CheckpointCommand& command) {
  if (checkpoints_of(command.run).empty()) return;
  const RunDirectory held(command.run, Begin::kResume);
  // Listed again, because a job may have used the directory until now.
  const std::vector<Checkpoint> before = checkpoints_of(command.run);
  if (before.empty()) return;
  verify_checkpoint(before.back().directory);  // C8: the newest must be whole before older ones are removed
  const Checkpoints checkpoints(held.checkpoints());
  checkpoints.prune(command.keep);
  ResultWriter out;
  out.print("{} removed, {} left\n", before.size() - checkpoints.list().size(), checkpoints.list().size());
  out.finish();
}

void declare_run(CLI::App& command, CheckpointCommand& options) {
  command.add_option("RUN,--run", options.run, "Run directory; --run may be omitted")->required();
}

}  // namespace

void add_checkpoint_command(CLI::App& program, Action& action) {
  CLI::App* group = program.add_subcommand("checkpoint", "Lists, verifies and prunes the checkpoints of a run.");
  group->footer(kCheckpointFooter);
  group->require_subcommand(1);
  add_command<CheckpointCommand>(
      *group, action, "list", "Shows the checkpoints of a run, oldest first.", kCheckpointFooter,
      [](CLI::App& command, CheckpointCommand& options) {
        declare_run(command, options);
        command.add_flag("--json", options.json, "Print a JSON array");
      },
      list);
  add_command<CheckpointCommand>(*group, action, "verify",
                                 "Reads all checkpoints of a run completely; exit code 65 if one is damaged.",
                                 kCheckpointFooter, declare_run, verify);
  add_command<CheckpointCommand>(
      *group, action, "prune", "Removes old checkpoints of a run that no job is using.", kCheckpointFooter,
      [](CLI::App& command, CheckpointCommand& options) {
        declare_run(command, options);
        add_count(command, "--keep", options.keep, 1, "Number of recent checkpoints to keep");
      },
      prune);
}

}  // namespace cpt
