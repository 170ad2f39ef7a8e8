// The commands of `cpt`, one file each. The command that the command line chooses stores its action, which the program
// runs after parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace cpt {

// Throws Error, or ClosedPipe (see io/result_writer.h).
using Action = std::function<void()>;

void add_predict_command(CLI::App& program, Action& action);
void add_score_command(CLI::App& program, Action& action);
void add_evaluate_command(CLI::App& program, Action& action);
void add_explain_command(CLI::App& program, Action& action);
void add_inspect_command(CLI::App& program, Action& action);
void add_dump_command(CLI::App& program, Action& action);
void add_checkpoint_command(CLI::App& program, Action& action);
void add_synth_command(CLI::App& program, Action& action);
void add_convert_command(CLI::App& program, Action& action);

// Adds a command. declare(command, options) adds its options. If the command is chosen, `action` becomes run(options).
template <class Options>
void add_command(CLI::App& program, Action& action, const std::string& name, const std::string& description,
                 const std::string& footer, void (*declare)(CLI::App&, Options&), void (*run)(const Options&)) {
  CLI::App* command = program.add_subcommand(name, description);
  command->footer(footer);
  const auto options = std::make_shared<Options>();
  declare(*command, *options);
  command->set_help_flag("-h,--help", "Print this help and exit")->group("Help");
  command->callback([&action, options, run] { action = [options, run] { run(*options); }; });
}

}  // namespace cpt
