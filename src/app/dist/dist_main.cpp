// cpt_dist, the trainer: starts MPI if a launcher started the process, runs the job, and ends with one reason and one
// exit code on all ranks.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "app/dist/dist_observer.h"
#include "app/dist/options/dist_options.h"
#include "app/dist/options/inherited_options.h"
#include "app/dist/path_checks.h"
#include "app/dist/plan_text.h"
#include "app/dist/run_files.h"
#include "app/dist/signals.h"
#include "app/dist/summary_text.h"
#include "app/shared/process.h"
#include "comm/agreement.h"
#include "comm/alone.h"
#include "comm/collectives.h"
#include "comm/mpi/launch_check.h"
#include "comm/mpi/mpi.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "store/fs/durable_file.h"
#include "store/run/run_directory.h"
#include "train/checkpoint/safe_point.h"
#include "train/host/host.h"
#include "train/training.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "cpt_dist";
constexpr const char* kMemoryHint =
    "use fewer --bits, or more machines (a resumed run and a model given with --init keep their --bits)";

// The observer of ranks other than 0.
class SilentObserver : public Observer {
 public:
  void warn(const std::string&) override {}
};

// Both are empty on ranks other than 0.
struct RunOutput {
  std::optional<RunDirectory> run;  // locked before the results of an earlier run are touched
  std::optional<DistObserver> observer;
};

void open_output(const DistOptions& options, int ranks, const std::optional<Resumption>& resumption,
                 RunOutput& output) {
  if (resumption && !resumption->has_nothing_to_do) {
    output.run->begin_resumed();
    cut_metrics(output.run->metrics(), *resumption);
  } else if (!resumption) {
    if (!options.overwrite && !options.training.resume) RunDirectory::require_unfinished(options.run);
    if (!options.training.learns()) output.run->require_no_model();
    output.run->begin_fresh();
  }
  output.observer.emplace(options, *output.run, ranks, resumption);
}

// The directory of the model that the run writes; empty if it learns nothing.
fs::path model_of(const DistOptions& options) {
  return options.training.learns() ? RunDirectory::model(options.run) : fs::path();
}

constexpr const char* kNoOutput = "standard output cannot be written";

// Returns false if standard output cannot be written. A closed pipe is not an error: the reader may stop early.
bool print(const std::string& text) {
  return (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) ||
         errno == EPIPE;
}

void print_all(const std::string& text) {
  if (!print(text)) throw Error(Fault::kCannotWrite, kNoOutput);
}

void write_results(const DistOptions& options, const TrainingResult& result, RunOutput& output) {
  output.run->require_in_place();
  const fs::path model = model_of(options);
  if (!model.empty()) output.observer->info("model written");
  const bool keeps_figures =
      result.summary.had_nothing_to_do && type_of(output.run->summary()) != fs::file_type::not_found;
  if (!keeps_figures) {
    const std::string json = summary_json(options, result.summary);
    write_file_atomically(output.run->summary(), std::as_bytes(std::span(json)));
  }
  const std::string text = summary_text(result.summary, options.training.validation, model);
  output.observer->info(text);
  // Only a warning: the run is finished, and after a failure scripts would start it again, or give it up.
  if (!print(text)) output.observer->warn(std::string(kNoOutput) + "; the results are in " + options.run.string());
}

// Rank 0 syncs the run directory, whose disk may be busy or remote.
constexpr std::chrono::minutes kRunDirectoryTimeoutExtension{1};
// How long a resumed run waits for the job before it, which may still be ending.
constexpr std::chrono::minutes kLongestWaitForLock{1};

// Fills in the options that come from the resumed run or the initial model.
void take_options(DistOptions& options) {
  if (!options.training.resume || !take_run_options(options)) take_model_options(options);
  const bool writes = options.training.learns() || options.training.resume;
  if (!options.keeps_checkpoints || !writes) options.training.checkpoints.keep = 0;
}

// All ranks write checkpoints, so all must see the same directory.
void require_shared(Communicator& comm, const RunOutput& output) {
  const fs::path lock = broadcast_text(comm, output.run ? output.run->lock().string() : "", 0, "start: run");
  const auto holder = [&] {
    const std::vector<std::byte> bytes = read_file(lock);
    return hash_label({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  std::uint64_t mine = 0;
  run_on_all(comm, "start: run", [&] {
    if (output.run) mine = holder();
  });
  const std::uint64_t expected = broadcast_value(comm, mine, 0, "start: run");
  run_on_all(comm, "start: run", [&] {
    if (type_of(lock) != fs::file_type::not_found && holder() == expected) return;
    throw Error(Fault::kUsage,
                lock.parent_path().string() +
                    ": is not the run directory of rank 0 on this host; checkpoints need a run directory "
                    "that all hosts share (--run), or use --checkpoint-every never");
  });
}

// Checked now, not after hours at the first checkpoint. One rank of each host tries for all.
void require_writable(Communicator& comm, const DistOptions& options) {
  int first = 0;
  while (comm.host_of(first) != comm.host()) ++first;
  run_on_all(comm, "start: run", [&] {
    if (comm.rank() == first) RunDirectory::require_writable(options.run);
  });
}

void reserve_run(Communicator& comm, const DistOptions& options, RunOutput& output) {
  const StallTimeoutExtension extension(comm, kRunDirectoryTimeoutExtension + kLongestWaitForLock);
  run_on_all(comm, "start", [&] {
    if (comm.rank() != 0) return;
    LockWait wait;
    if (options.training.resume) wait.limit = kLongestWaitForLock;
    wait.tell = [](const std::string& reason) { std::fprintf(stderr, "cpt_dist: %s\n", reason.c_str()); };
    output.run.emplace(options.run, Begin::kResume, wait);
  });
  const bool writes_checkpoints = options.keeps_checkpoints && options.training.checkpoints.keep > 0;
  if (writes_checkpoints || options.training.resume) require_shared(comm, output);
  if (writes_checkpoints) require_writable(comm, options);
}

void open_run(Communicator& comm, const DistOptions& options, const std::optional<Resumption>& resumption,
              bool starts_new, RunOutput& output) {
  const StallTimeoutExtension extension(comm, kRunDirectoryTimeoutExtension);
  run_on_all(comm, "start", [&] {
    if (comm.rank() != 0) return;
    open_output(options, comm.size(), resumption, output);
    for (const std::string& line : describe_unused(options)) output.observer->warn(line);
    if (starts_new) output.observer->tell(options.run.string() + " has no checkpoint to resume: starting a new run");
  });
}

void print_plan(Communicator& comm, DistOptions options, const Training& training) {
  options.training = training.options();
  const RunPlan plan = training.plan();
  run_on_all(comm, "plan", [&] {
    if (comm.rank() != 0) return;
    std::vector<std::string> warnings = describe_unused(options);
    warnings.insert(warnings.end(), plan.warnings.begin(), plan.warnings.end());
    for (const std::string& warning : warnings) std::fprintf(stderr, "cpt_dist: warning: %s\n", warning.c_str());
    const std::string resumption = training.resumption() ? resumption_text(*training.resumption()) + "\n" : "";
    print_all(plan_text(plan, options.run) + resumption);
  });
}

void run_job(Communicator& comm, DistOptions options) {
  comm.set_stall_timeout(options.stall_timeout);
  RunOutput output;
  SilentObserver silent;
  options.training.checkpoints.requested = take_request;
  run_on_all(comm, "start", [&] {
    if (const auto mismatch = launcher_mismatch(comm.size())) throw Error(Fault::kUsage, *mismatch);
    if (comm.rank() == 0) require_usable_paths(options);
  });
  // The next steps of all ranks depend on these.
  require_equal(comm, {{"another --resume", options.training.resume}, {"another --dry-run", options.dry_run}},
                "start: options", Fault::kUsage);
  if (options.training.resume && !options.dry_run)
    reserve_run(comm, options, output);  // lock the run before reading it
  run_on_all(comm, "start", [&] { take_options(options); });
  std::optional<StallTimeoutExtension> extension(std::in_place, comm, timeout_for_disks(options.training.model));
  Training training(options.training, comm);  // may fail, so results of an earlier run are replaced later
  extension.reset();
  if (options.dry_run) return print_plan(comm, options, training);
  if (!options.training.resume) reserve_run(comm, options, output);
  const bool starts_new = options.training.resume && !training.resumption();
  options.training = training.options();
  open_run(comm, options, training.resumption(), starts_new, output);
  try {
    catch_ends();
    Observer& observer = output.observer ? static_cast<Observer&>(*output.observer) : silent;
    TrainingResult result = training.run(observer, model_of(options));
    result.summary.memory = largest_memory(result.summary.memory, comm);
    const StallTimeoutExtension with_results(comm, kRunDirectoryTimeoutExtension);
    run_on_all(comm, "write the results", [&] {
      if (output.observer) write_results(options, result, output);
    });
  } catch (const std::exception& error) {
    if (output.observer) output.observer->error(describe(error));
    throw;
  }
}

// All ranks parse the same arguments, but a config file may differ or be missing on a host.
std::optional<int> end_by_command_line(Communicator& comm, const CommandLine& line) {
  const std::vector<int> codes = all_gather_value(comm, line.ends ? line.code : -1, "command line");
  if (std::all_of(codes.begin(), codes.end(), [](int code) { return code == -1; })) return std::nullopt;
  const auto lowest = std::find_if(codes.begin(), codes.end(), [](int code) { return code != -1; });
  if (comm.rank() == lowest - codes.begin()) {
    if (line.code == 0) {
      print_all(line.text);
    } else {
      std::fputs(line.text.c_str(), stderr);
    }
  }
  return *lowest;
}

// Reports an error on which the ranks cannot agree, and aborts the job. Ranks that notice the same stall wait for
// different times, so that only the first one reports it: the launcher then ends the others by SIGTERM. Ranks that took
// SIGTERM for a request to stop wait until the launcher sends SIGKILL two seconds later.
[[noreturn]] void abort_job(MpiSession& session, const Communicator& comm, const std::exception& error) {
  restore_default_ends();
  std::string program = kProgram;
  if (dynamic_cast<const StallError*>(&error) != nullptr) {  // its message names the rank
    std::this_thread::sleep_for(std::chrono::milliseconds(300) * std::min(comm.rank(), 10));
    if (is_stop_requested()) std::this_thread::sleep_for(std::chrono::seconds(3));
  } else {
    program += ": " + rank_and_host(comm, comm.rank());
  }
  session.abort(report_failure(program.c_str(), error, kMemoryHint));
}

// `session`: nullptr without a launcher.
int run_program(MpiSession* session, int argc, const char* const* argv) {
  const std::unique_ptr<Communicator> comm = session != nullptr ? session->world() : std::make_unique<Alone>();
  try {
    const CommandLine line = parse_command_line(argc, argv);
    if (const auto code = end_by_command_line(*comm, line)) return *code;
    run_job(*comm, line.options);
    return 0;
  } catch (const AgreedError& error) {
    if (comm->rank() == 0) report_failure(kProgram, error, kMemoryHint);
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    if (comm->size() > 1) abort_job(*session, *comm, error);
    return report_failure(kProgram, error, kMemoryHint);
  }
}

}  // namespace

}  // namespace cpt

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // training continues after the reader of the output has closed it
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is reported as an error
  cpt::catch_requests();
  try {
    cpt::occupy_closed_streams();
    std::optional<cpt::MpiSession> session;
    if (cpt::was_launched()) session.emplace();  // starting MPI takes half a second
    return cpt::run_program(session ? &*session : nullptr, argc, argv);
  } catch (const std::exception& error) {
    return cpt::report_failure("cpt_dist", error);
  }
}
