// cpt, the program for everything except training. Its commands have one file each and are declared in commands.h.

#include <csignal>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/other_tools.h"
#include "app/shared/process.h"
#include "core/version.h"

namespace cpt {

namespace {

constexpr const char* kFooter =
    R"(For the options of a command, run `cpt COMMAND --help`. Results go to standard output, everything
else to standard error.

Example:
  cpt predict --model runs/ads/model --data test.vw --top 5

Exit codes:
  0 done, 1 failed, 2 usage error, 65 bad input data, 66 input missing, 73 cannot write)";

// help2man reads the first line.
std::string version_text() { return std::string("cpt ") + kVersion + "\nCommit " + kCommit + ", " + kCompiler; }

// Reports a usage error with the name of the command as far as it was parsed: "cpt", "cpt checkpoint prune".
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const std::vector<std::string> unknown = command->remaining();
  const bool wants_command = command->get_require_subcommand_min() > 0;
  std::string reason = describe_other_tools_option(unknown);
  if (reason.empty())
    reason = wants_command && !unknown.empty() ? "no command '" + unknown.front() + "'" : error.what();
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), reason.c_str(), name.c_str());
  return exit_code(Fault::kUsage);
}

// --help and --version end parsing by an exception, too.
int end_of_parsing(const CLI::App& program, const CLI::ParseError& error) {
  std::ostringstream text;
  if (program.exit(error, text, text) != 0) return report_usage(program, error);
  ResultWriter out;
  out.print("{}", text.str());
  out.finish();
  return 0;
}

int run_program(int argc, const char* const* argv) {
  CLI::App program("Predicts with models that cpt_dist has trained, inspects them, and prepares data.", "cpt");
  program.footer(kFooter);
  set_help_layout(program);
  add_help_options(program, version_text());
  program.require_subcommand(1);
  Action action;
  add_predict_command(program, action);
  add_score_command(program, action);
  add_evaluate_command(program, action);
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
  std::signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe then throws ClosedPipe
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is reported as an error
  try {
    cpt::occupy_closed_streams();
    return cpt::run_program(argc, argv);
  } catch (const cpt::ClosedPipe&) {
    return 0;
  } catch (const std::exception& error) {
    return cpt::report_failure("cpt", error);
  }
}
