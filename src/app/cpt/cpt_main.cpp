// cpt, the program for everything except training. Its commands have one file each and are declared in commands.h.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "app/shared/process.h"
#include "app/shared/unknown_words.h"
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

// Words that users of other tools try as commands, and what to use here.
constexpr std::array<std::pair<std::string_view, const char*>, 6> kOtherCommands{{
    {"test", "cpt evaluate"},
    {"test-label", "cpt evaluate --by-label"},
    {"quantize", "nothing, models are not compressed; fewer --bits make smaller ones"},
    {"train", "cpt_dist --data PATH"},
    {"supervised", "cpt_dist --data PATH"},
    {"predict-prob", "cpt predict --top N"},
}};

std::string describe_unknown_command(const CLI::App& group, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (word.starts_with('-')) {
    const std::string hint = describe_other_tools_option(words, Program::kCpt);
    return hint.empty() ? "no command before " + word : hint;
  }
  const std::string text = "no command '" + word + "'";
  const auto other = std::ranges::find(kOtherCommands, word, [](const auto& entry) { return entry.first; });
  if (other != kOtherCommands.end()) return text + "; here: " + other->second;
  std::vector<std::string> commands;
  for (const CLI::App* command : group.get_subcommands({})) commands.push_back(command->get_name());
  return text + suggest_name(word, commands);
}

std::string usage_error(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = command.remaining();
  if (unknown.empty()) return usage_text(error);
  const bool wants_command = command.get_require_subcommand_min() > 0;
  return wants_command ? describe_unknown_command(command, unknown)
                       : describe_unknown_words(command, unknown, Program::kCpt);
}

// Reports a usage error with the name of the command as far as it was parsed: "cpt", "cpt checkpoint prune".
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  while (command->remaining().empty() && !command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  std::fprintf(stderr, "%s: %s (see %s --help)\n", name.c_str(), usage_error(*command, error).c_str(), name.c_str());
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
