// How the commands of the program `cpt` hang together: while the command line is read, each command that is chosen says
// what is to be done, and the program does it afterwards.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace cpt {

// Throws Error, or ClosedPipe (see result_writer.h).
using Action = std::function<void()>;

// Adds a command that, if chosen, sets `action` to run(options) with what `declare(command, options)` let users set.
template <class Options>
void add_command(CLI::App& program, Action& action, const std::string& name, const std::string& description,
                 const std::string& footer, void (*declare)(CLI::App&, Options&), void (*run)(const Options&)) {
  CLI::App* command = program.add_subcommand(name, description);
  command->footer(footer);
  const auto options = std::make_shared<Options>();
  declare(*command, *options);
  command->callback([&action, options, run] { action = [options, run] { run(*options); }; });
}

}  // namespace cpt
