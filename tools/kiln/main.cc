/// kiln: looks inside the compiler.
#include <cstdio>

#include "commands.h"

namespace {

constexpr const char* kHelp =
    "kiln dump m.onnx [--after=PASS]     prints the graph after a pass (import: before the first; default: after all)\n"
    "  --shapes=x:1x3,...                for these extents alone\n"
    "  --verify --count --verbose        checks the graph, counts its nodes (constants aside), times every pass\n"
    "kiln profile m.onnx [--shapes=...]  builds, runs, and prints the time of every step\n"
    "  --min=x:1x3,... --max=x:32x3,...  the profile's least and largest extents, beside those that it is tuned for\n"
    "  --at=x:1x3,...;x:32x3,...         what to run, instead of --shapes\n"
    "kiln why m.plan [LAYER]             how a layer came to be run as it is: what could have run it, with times, and "
    "what was\n"
    "                                    refused, with reasons; without LAYER all steps\n"
    "kiln run m.onnx --data=FOLDER       runs on input_K.pb of the folder and compares with output_K.pb\n"
    "profile and run take\n"
    "  --device=cpu|cuda --threads=N     where (default: cpu), and the CPU's threads\n"
    "  --fp16 --bf16 --noTF32 --level=N  as trtexec's --fp16, --bf16, --noTF32 and --builderOptimizationLevel\n"
    "  --tactic-sources=-CUBLAS_LT,+CUDNN --aux-streams=N --verbose\n"
    "and profile also --runs=N (default: 20)\n"
    "kiln help                           prints this\n";

kiln::Status run(int argc, char** argv) {
  const kiln::Arguments arguments = TRY(kiln::parse_arguments(
      argc, argv,
      {"after", "shapes", "min", "max", "at", "threads", "noTF32", "device", "level", "runs", "verbose", "help", "data",
       "fp16", "bf16", "verify", "count", "tactic-sources", "aux-streams"}));
  if (arguments.words.empty() || arguments.words[0] == "help" || arguments.has("help"))
    return std::fputs(kHelp, stdout), kiln::Status{};
  if (arguments.words[0] == "dump") return kiln::run_dump(arguments);
  if (arguments.words[0] == "profile") return kiln::run_profile(arguments);
  if (arguments.words[0] == "why") return kiln::run_why(arguments);
  if (arguments.words[0] == "run") return kiln::run_run(arguments);
  return kiln::error(kiln::Code::kInvalidArgument, "no command is called '", arguments.words[0],
                     "'; there are dump, profile, why, run and help");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const kiln::Status done = run(argc, argv);
    if (done) return 0;
    std::fprintf(stderr, "kiln: %s\n", done.error().message.c_str());
  } catch (const kiln::CheckFailed& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.message.c_str());
  } catch (const std::exception& failed) {
    std::fprintf(stderr, "kiln: %s\n", failed.what());
  }
  return 1;
}
