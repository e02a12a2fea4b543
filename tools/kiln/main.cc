/// kiln: looks inside the compiler.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "commands.h"
#include "flag_table.h"

namespace kiln {
namespace {

struct Command {
  std::string_view name, operands, help;
  size_t most_operands;  ///< at least one
  Status (*run)(const cli::Arguments&);
};

constexpr Command kCommands[] = {
    {"dump", "m.onnx", "print the graph after a pass", 1, run_dump},
    {"profile", "m.onnx", "build, run, and print the time of every step", 1, run_profile},
    {"why", "m.plan [LAYER]",
     "print what could have run a layer, with times, and what was refused, with reasons;\n"
     "                                    LAYER is a name, a part of a name or a step's number; without it all steps "
     "are "
     "listed",
     2, run_why},
    {"run", "m.onnx --data=FOLDER", "run on the tensors of a folder, and compare", 1, run_run},
};

std::string help() {
  std::string text = "kiln looks inside the compiler.\n\n";
  for (const Command& command : kCommands) {
    std::string line = str("  kiln ", command.name, " ", command.operands);
    line.resize(std::max<size_t>(line.size() + 1, 36), ' ');
    text += str(line, command.help, "\n");
  }
  return cli::help_text(text, {kFlags});
}

const Command& find_command(std::string_view name) {
  std::string names = "help";
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
    names += str(", ", command.name);
  }
  cli::fail("no command is called '", name, "'; there are ", names);
}

Status run(std::span<const char* const> words) {
  const std::string_view name = words.empty() ? "help" : words[0];
  if (name == "help" || cli::wants_help(words)) return std::fputs(help().c_str(), stdout), Status{};
  const cli::Arguments arguments(words, {kFlags});
  cli::require(!arguments.operands().empty(), "the command is missing; kiln help lists them");
  const Command& command = find_command(arguments.operands()[0]);
  const size_t count = arguments.operands().size() - 1;
  cli::require(count >= 1 && count <= command.most_operands, "usage: kiln ", command.name, " ", command.operands,
               "; kiln help lists the flags");
  for (const cli::Flag* flag : arguments.flags())
    cli::require(flag->section.contains(command.name), "kiln ", command.name, " has no flag ", flag->name,
                 ", which is for ", flag->section);
  return command.run(arguments);
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error to report
  try {
    const kiln::Status done = kiln::run(std::span<char*>(argv, static_cast<size_t>(argc)).subspan(1));
    if (done) return 0;
    std::fprintf(stderr, "kiln: %s\n", done.error().message.c_str());
  } catch (const kiln::CheckFailed& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.message.c_str());
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.what());
  }
  return 1;
}
