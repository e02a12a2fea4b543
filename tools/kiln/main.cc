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
    {"diff", "a [b]",
     "compare an engine with another or with its ONNX file, tensor by tensor; a and b are plans or ONNX\n"
     "                                    files: an ONNX file a is built, b is run by references unless --with is "
     "given",
     2, run_diff},
    {"show", "m.plan -o m.html",
     "write a page that shows an engine: its graph, times, memory and candidates; m.plan may be an\n"
     "                                    ONNX file, which is built first, or a file of trtexec's --exportLayerInfo "
     "or\n"
     "                                    --exportProfile",
     1, run_show},
    {"run", "m.onnx --data=FOLDER", "run on the tensors of a folder, and compare", 1, run_run},
};

std::string help() {
  std::string text = "kiln looks inside the compiler.\n\n";
  for (const Command& command : kCommands) {
    std::string line = str("  kiln ", command.name, " ", command.operands);
    line.resize(std::max<size_t>(line.size() + 1, 36), ' ');
    text += str(line, command.help, "\n");
  }
  text += "  kiln serve m.plan...              serve over HTTP and gRPC; has flags of its own: kiln serve --help\n";
  return cli::help_text(text, {kFlags});
}

const Command& find_command(std::string_view name) {
  std::string names = "help";
  for (const Command& command : kCommands) {
    if (command.name == name) return command;
    names += str(", ", command.name);
  }
  cli::fail("no command is called '", name, "'; there are ", names, ", serve");
}

/// The words with "-o FILE" as one word, "-o=FILE".
std::vector<std::string> with_outputs_joined(std::span<const char* const> words) {
  std::vector<std::string> joined;
  for (const std::string_view word : words)
    if (!joined.empty() && joined.back() == "-o")
      joined.back() += str("=", word);
    else
      joined.emplace_back(word);
  return joined;
}

Status run(std::span<const char* const> given) {
  const std::string_view name = given.empty() ? "help" : given[0];
  if (name == "serve") return run_serve(given.subspan(1));
  const std::vector<std::string> joined = with_outputs_joined(given);
  std::vector<const char*> words;
  for (const std::string& word : joined) words.push_back(word.c_str());
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
  } catch (const kiln::Exit& exit) {
    return exit.status;
  } catch (const kiln::CheckFailed& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.message.c_str());
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.what());
  }
  return 1;
}
