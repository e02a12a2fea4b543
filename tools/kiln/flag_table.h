/// kiln's flags. A section's name lists the commands that take them.
#pragma once

#include "trtexec/flag_table.h"

namespace kiln {

inline constexpr std::string_view kDiff = "diff", kDump = "dump", kProfile = "profile", kRun = "run", kShow = "show",
                                  kProfileAndShow = "profile and show", kDiffAndShow = "diff and show",
                                  kRanges = "dump, profile and show", kWithShapes = "diff, dump, profile and show",
                                  kBuilding = "diff, profile, run and show",
                                  kNetwork = "diff, dump, profile, run and show", kAll = "all commands";

/// trtexec's flag of that name, with the same meaning.
consteval cli::Flag as_trtexec(std::string_view name, std::string_view section) {
  for (cli::Flag flag : cli::trtexec::kFlags)
    if (flag.name == name) return flag.section = section, flag.given = cli::Given::kOnce, flag;
  throw "trtexec has no such flag";
}

inline constexpr cli::Flag kFlags[] = {
    {"--after", "PASS", kDump, "print the graph after this pass (import: before the first); default: after all"},
    {"--verify", "", kDump, "check the graph after every pass"},
    {"--count", "", kDump, "print the number of nodes after every pass, constants aside"},

    {"--at", "SHAPES;...", kProfile, "shapes to run at, one list after another, instead of --shapes"},
    as_trtexec("--exportProfile", kProfile),

    {"--runs", "N", kProfileAndShow, "run this often; default 20"},

    {"--tolerance", "REL/ABS", kDiff,
     "a tensor may be off by REL of its largest number plus ABS; default: by the types"},
    {"--isolate", "", kDiff, "also run a with b's tensors for its own, so that each layer's own error is known"},
    {"--with", "FLAGS", kDiff, "build the ONNX file b with these flags, in quotes, instead of running its references"},
    {"--json", "", kDiff, "print the comparison as JSON"},
    {"--seed", "N", kDiff, "make up other inputs; default 0"},
    {"--loopRuns", "N", kDiff, "compare so many runs of a loop's tensors; default 100"},
    {"--keep", "SIZE", kDiff,
     "memory for b's tensors, in MiB if no unit is given; default 4G; where it is too little, the status is 3"},
    as_trtexec("--loadInputs", kDiff),
    as_trtexec("--stronglyTyped", kDiff),

    {"--data", "FOLDER", kRun, "folder with the inputs, input_K.pb, and the outputs to compare with, output_K.pb"},

    {"-o", "FILE", kDiffAndShow,
     "the page to write; show writes NAME.html for NAME.plan where none is named, and - is its standard output"},
    {"--layerTimes", "FILE", kShow, "times of trtexec --exportProfile, instead of a run"},
    {"--noRun", "", kShow, "do not run the engine: the page then has the times of the build only"},
    as_trtexec("--useProfile", kShow),

    as_trtexec("--minShapes", kRanges),
    as_trtexec("--optShapes", kRanges),
    as_trtexec("--maxShapes", kRanges),
    as_trtexec("--shapes", kWithShapes),

    {"--backend", "cpu|cuda", kBuilding, "where to build and run; default cpu"},
    {"--instructions", "avx2|avx512|neon", kBuilding, "instruction set to use; default: the best of this machine"},
    as_trtexec("--fp16", kBuilding),
    as_trtexec("--bf16", kBuilding),
    as_trtexec("--noTF32", kBuilding),
    as_trtexec("--builderOptimizationLevel", kBuilding),
    as_trtexec("--maxAuxStreams", kBuilding),
    as_trtexec("--tacticSources", kBuilding),

    as_trtexec("--verbose", kNetwork),

    as_trtexec("--help", kAll),
    as_trtexec("-h", kAll),
};

}  // namespace kiln
