/// Builds a plan from an ONNX file.
#pragma once

#include <optional>

#include "options.h"
#include "plan_pieces.h"

namespace kiln::cli::trtexec {

class Log;

/// Parses, builds and, if asked, saves the plan and adds to the timing cache's file. A plan that is saved where it can
/// be read back is written as it is made, so that it is never in memory as a whole: nothing is returned then. Fails
/// with what is wrong; the library's own messages are in the log by then.
std::optional<PlanPieces> build_plan(const Options& options, Log& log);

}  // namespace kiln::cli::trtexec
