/// From an ONNX file to a plan.
#pragma once

#include <memory>

#include "NvInfer.h"
#include "options.h"

namespace kiln::cli::trtexec {

class Log;

/// Parses, builds and, if asked, saves the plan and adds to the timing cache's file. A plan that is saved where it can
/// be read back is written as it is made, so that it is never in memory as a whole: the result is null then. Fails with
/// what is wrong; the library's own messages are in the log by then.
std::unique_ptr<nvinfer1::IHostMemory> build_plan(const BuildOptions& options, Log& log);

}  // namespace kiln::cli::trtexec
