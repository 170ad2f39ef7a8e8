// cpt_dist: the trainer. Starts MPI, runs the job, and leaves with one reason and one exit code on all ranks.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "app/dist_observer.h"
#include "app/dist_options.h"
#include "app/exit.h"
#include "app/initial_model.h"
#include "app/run_files.h"
#include "app/standard_streams.h"
#include "app/summary_text.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "comm/launch_check.h"
#include "comm/mpi.h"
#include "cpt/error.h"
#include "cpt/trainer.h"
#include "store/durable_file.h"
#include "store/run_directory.h"

namespace cpt {

namespace {

constexpr const char* kProgram = "cpt_dist";

// Ranks other than 0 have nobody to tell.
class SilentObserver : public Observer {
 public:
  void report(const Report&) override {}
  void warn(const std::string&) override {}
  void progress(std::uint64_t, double, double) override {}
};

// What rank 0 alone has: the run directory and the observer that writes it.
struct Desk {
  RunDirectory run;
  DistObserver observer;
  Desk(const DistOptions& options, int ranks) : run(options.run), observer(options, run, ranks) {}
};

void write_results(const DistOptions& options, const TrainingResult& result, Desk& desk) {
  const std::filesystem::path model = options.training.learns() ? desk.run.model() : std::filesystem::path();
  if (!model.empty()) desk.observer.info("model written");
  const std::string json = summary_json(options, result.summary);
  write_file_atomically(desk.run.summary(), std::as_bytes(std::span(json)));
  const std::string text = summary_text(result.summary, model);
  desk.observer.info(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(Fault::kCannotWrite, "standard output cannot be written");
  }
}

// Reading and writing a model takes as long as the disk takes, so the others wait longer than for a message: a minute
// more per GiB.
std::chrono::milliseconds patience_for_model(const DistOptions& options) {
  if (options.stall_timeout.count() == 0) return options.stall_timeout;
  const int gib_bits = options.training.model.bits - 24;
  return options.stall_timeout + std::chrono::minutes(1) * (std::int64_t{1} << std::max(0, gib_bits));
}

void run_job(Communicator& comm, DistOptions options) {
  comm.set_stall_timeout(options.stall_timeout);
  std::optional<Desk> desk;
  SilentObserver silent;
  together(comm, "start", [&] {
    if (const auto mismatch = launcher_mismatch(comm.size())) throw Error(Fault::kUsage, *mismatch);
    take_model_options(options);
  });
  if (!options.training.init.empty()) comm.set_stall_timeout(patience_for_model(options));
  Training training(options.training, comm);  // a mistyped path must not cost the results of an earlier run
  comm.set_stall_timeout(options.stall_timeout);
  together(comm, "start", [&] {
    if (comm.rank() == 0) desk.emplace(options, comm.size());
  });
  try {
    Observer& observer = desk ? static_cast<Observer&>(desk->observer) : silent;
    const TrainingResult result = training.run(observer);
    comm.set_stall_timeout(patience_for_model(options));
    if (options.training.learns()) save_model(result, comm, desk ? desk->run.model() : std::filesystem::path());
    together(comm, "write the results", [&] {
      if (desk) write_results(options, result, *desk);
    });
  } catch (const std::exception& error) {
    if (desk) desk->observer.error(describe(error));
    throw;
  }
}

// All ranks parse the same words, but a file named there may be another one, or missing, on some host.
std::optional<int> end_by_command_line(Communicator& comm, const CommandLine& line) {
  const std::vector<int> codes = all_gather_value(comm, line.ends ? line.code : -1, "command line");
  if (std::all_of(codes.begin(), codes.end(), [](int code) { return code == -1; })) return std::nullopt;
  const auto lowest = std::find_if(codes.begin(), codes.end(), [](int code) { return code != -1; });
  if (comm.rank() == lowest - codes.begin()) {
    std::fputs(line.text.c_str(), line.code == 0 ? stdout : stderr);
    std::fflush(nullptr);
  }
  return *lowest;
}

// An error that the others cannot hear of: say it and end all. Ranks that noticed the same stall take turns, so that
// the first one to speak is the only one.
[[noreturn]] void give_up(MpiSession& session, const Communicator& comm, const std::exception& error) {
  std::string who = kProgram;
  if (dynamic_cast<const StallError*>(&error) != nullptr) {  // which names this rank itself
    std::this_thread::sleep_for(std::chrono::milliseconds(300) * std::min(comm.rank(), 10));
  } else {
    who += ": " + rank_and_host(comm, comm.rank());
  }
  session.abort(report_failure(who.c_str(), error));
}

int run_program(MpiSession& session, int argc, const char* const* argv) {
  const std::unique_ptr<Communicator> comm = session.world();
  try {
    const CommandLine line = parse_command_line(argc, argv);
    if (const auto code = end_by_command_line(*comm, line)) return *code;
    run_job(*comm, line.options);
    return 0;
  } catch (const AgreedError& error) {
    if (comm->rank() == 0) report_failure(kProgram, error);
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    if (comm->size() > 1) give_up(session, *comm, error);
    return report_failure(kProgram, error);
  }
}

}  // namespace

}  // namespace cpt

int main(int argc, char** argv) {
  try {
    cpt::occupy_closed_streams();
    cpt::MpiSession session;
    return cpt::run_program(session, argc, argv);
  } catch (const std::exception& error) {
    return cpt::report_failure("cpt_dist", error);
  }
}
