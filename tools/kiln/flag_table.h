/// kiln's flags. A section's name lists the commands that take them.
#pragma once

#include "trtexec/flag_table.h"

namespace kiln {

inline constexpr std::string_view kDump = "dump", kProfile = "profile", kRun = "run",
                                  kDumpAndProfile = "dump and profile", kProfileAndRun = "profile and run",
                                  kDumpProfileAndRun = "dump, profile and run", kAll = "all commands";

/// trtexec's flag of that name, with the same meaning.
consteval cli::Flag as_trtexec(std::string_view name, std::string_view section) {
  for (cli::Flag flag : cli::trtexec::kFlags)
    if (flag.name == name) return flag.section = section, flag;
  throw "trtexec has no such flag";
}

inline constexpr cli::Flag kFlags[] = {
    {"--after", "PASS", kDump, "print the graph after this pass (import: before the first); default: after all"},
    {"--verify", "", kDump, "check the graph after every pass"},
    {"--count", "", kDump, "print the number of nodes after every pass, constants aside"},

    {"--at", "SHAPES;...", kProfile, "shapes to run at, one list after another, instead of --shapes"},
    {"--runs", "N", kProfile, "run this often; default 20"},
    as_trtexec("--exportProfile", kProfile),

    {"--data", "FOLDER", kRun, "folder with the inputs, input_K.pb, and the outputs to compare with, output_K.pb"},

    as_trtexec("--minShapes", kDumpAndProfile),
    as_trtexec("--optShapes", kDumpAndProfile),
    as_trtexec("--maxShapes", kDumpAndProfile),
    as_trtexec("--shapes", kDumpAndProfile),

    {"--backend", "cpu|cuda", kProfileAndRun, "where to build and run; default cpu"},
    {"--instructions", "avx2|avx512|neon", kProfileAndRun, "instruction set to use; default: the best of this machine"},
    as_trtexec("--fp16", kProfileAndRun),
    as_trtexec("--bf16", kProfileAndRun),
    as_trtexec("--noTF32", kProfileAndRun),
    as_trtexec("--builderOptimizationLevel", kProfileAndRun),
    as_trtexec("--maxAuxStreams", kProfileAndRun),
    as_trtexec("--tacticSources", kProfileAndRun),

    as_trtexec("--verbose", kDumpProfileAndRun),

    as_trtexec("--help", kAll),
    as_trtexec("-h", kAll),
};

}  // namespace kiln
