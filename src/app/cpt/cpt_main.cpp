// cpt: everything after training.

#include <csignal>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "app/cpt/checkpoint_command.h"
#include "app/cpt/command_line.h"
#include "app/cpt/convert_command.h"
#include "app/cpt/dump_command.h"
#include "app/cpt/explain_command.h"
#include "app/cpt/inspect_command.h"
#include "app/cpt/io/result_writer.h"
#include "app/cpt/predict_command.h"
#include "app/cpt/score_command.h"
#include "app/cpt/synth_command.h"
#include "app/shared/exit.h"
#include "app/shared/help_format.h"
#include "app/shared/parse_reason.h"
#include "app/shared/standard_streams.h"
#include "core/version.h"

namespace cpt {

namespace {

constexpr const char* kFooter =
    R"(`cpt COMMAND --help` tells more. Results go to standard output, everything else to standard error.

Example:
  cpt predict --model runs/ads/model --data test.vw --top 5

Exit codes: 0 done, 1 failed, 2 usage, 65 bad input data, 66 input missing, 73 cannot write.)";

std::string version_text() { return std::string("cpt ") + kVersion + " (commit " + kCommit + ", " + kCompiler + ")"; }

// As far as the command line got.
struct Called {
  const CLI::App* command;
  std::string name;  // "cpt", "cpt score", "cpt checkpoint prune"
};

Called called_by(const CLI::App& program) {
  Called called{&program, program.get_name()};
  while (!called.command->get_subcommands().empty()) {
    called.command = called.command->get_subcommands().front();
    called.name += " " + called.command->get_name();
  }
  return called;
}

std::string reason_to_end(const CLI::App& program, const CLI::App& called, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = called.remaining();
  const bool wants_command = called.get_require_subcommand_min() > 0;
  return wants_command && !unknown.empty() ? "no command '" + unknown.front() + "'" : reason_of(program, error);
}

// --help and --version are exceptions as well: those of success.
int end_of_parsing(const CLI::App& program, const CLI::ParseError& error) {
  std::ostringstream text;
  if (program.exit(error, text, text) == 0) {
    ResultWriter out;
    out.print("{}", text.str());
    out.finish();
    return 0;
  }
  const auto [command, name] = called_by(program);
  const std::string reason = reason_to_end(program, *command, error);
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), reason.c_str(), name.c_str());
  return exit_code(Fault::kUsage);
}

int run_program(int argc, const char* const* argv) {
  CLI::App program("Predicts with, and looks into, models that cpt_dist has trained.", "cpt");
  program.footer(kFooter);
  program.set_version_flag("--version", version_text());
  lay_out_help(program);
  program.require_subcommand(1);
  Action action;
  add_predict_command(program, action);
  add_score_command(program, action);
  add_explain_command(program, action);
  add_inspect_command(program, action);
  add_dump_command(program, action);
  add_checkpoint_command(program, action);
  add_synth_command(program, action);
  add_convert_command(program, action);
  try {
    require_values({argv + 1, argv + argc});
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return end_of_parsing(program, error);
  }
  action();
  return 0;
}

}  // namespace

}  // namespace cpt

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is then noticed as ClosedPipe, wherever that is
  std::signal(SIGXFSZ, SIG_IGN);  // a file that would be too large is an error that is told
  try {
    cpt::occupy_closed_streams();
    return cpt::run_program(argc, argv);
  } catch (const cpt::ClosedPipe&) {
    return 0;
  } catch (const std::exception& error) {
    return cpt::report_failure("cpt", error);
  }
}
