#include "store/run/run_directory.h"

#include <string>
#include <system_error>

#include "cpt/error.h"
#include "store/blob/blob_set.h"
#include "store/fs/durable_file.h"
#include "store/fs/unfinished.h"
#include "store/run/checkpoints.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

fs::path made(fs::path directory) {
  create_directory_durably(directory);
  return directory;
}

// Holds something. An empty folder, or a link, may have been put there for the run to write to.
bool is_somebodys(const fs::path& path) {
  std::error_code unknown;
  return !fs::is_symlink(path, unknown) && fs::exists(path, unknown) && !fs::is_empty(path, unknown);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Begin begin) : path_(made(std::move(path))), lock_(path_) {
  if (begin == Begin::kFresh) {
    begin_fresh();
  } else {
    remove_leftovers();
  }
}

bool RunDirectory::is_at(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path / "lock", unknown) && fs::exists(path / "metrics.jsonl", unknown);
}

void RunDirectory::require_unfinished(const fs::path& run) {
  std::error_code unknown;
  if (!fs::exists(run / "summary.json", unknown)) return;
  throw Error(Fault::kCannotWrite, run.string() +
                                       ": holds the results of a finished run; add --overwrite to replace them, or "
                                       "choose another directory with --run");
}

void RunDirectory::begin_fresh() {
  require_nothing_to_lose();
  lock_.begin_run();
  remove_leftovers();
  remove_earlier_results();
}

void RunDirectory::go_on() {
  lock_.begin_run();
  remove_durably(summary());
}

void RunDirectory::require_no_model() const {
  std::error_code unknown;
  if (!fs::exists(model(), unknown)) return;
  throw Error(Fault::kCannotWrite, model().string() +
                                       ": is the model of another run, and this one makes none in its place; choose "
                                       "another run directory");
}

void RunDirectory::require_nothing_to_lose() const {
  std::error_code unknown;
  const auto refuse = [&](const fs::path& foreign) {
    throw Error(Fault::kCannotWrite, foreign.string() + ": was not written by a run; choose another run directory");
  };
  if (!may_hold_blob_set(model())) refuse(model());
  for (const fs::path& path : {checkpoints(), summary(), metrics(), log()}) {
    if (lock_.is_first() && is_somebodys(path)) refuse(path);
  }
  if (!fs::exists(summary(), unknown) && !Checkpoints(checkpoints()).list().empty()) {
    throw Error(Fault::kUsage, path_.string() +
                                   ": holds checkpoints of a run that did not finish: add --resume to go on with it, "
                                   "or remove " +
                                   checkpoints().string() + " to start anew");
  }
}

void RunDirectory::remove_earlier_results() const {
  // The checkpoints before the summary: a crash between them leaves a finished run with fewer checkpoints, and the next
  // fresh run goes on here. The other way round it would leave checkpoints without a summary, that is a run that looks
  // unfinished: a fresh run would be refused, and --resume would bring back what was to be replaced.
  Checkpoints(checkpoints()).remove_all();
  for (const fs::path& stale : {summary(), metrics()}) remove_durably(stale);
}

void RunDirectory::remove_leftovers() const {
  restore_directory(model());  // of a process that was killed while it replaced it
  for (const fs::path& path : {model(), fs::path(model().string() + ".old"), summary(), metrics()})
    sweep_unfinished(path);
  Checkpoints(checkpoints()).remove_leftovers();
}

}  // namespace cpt
