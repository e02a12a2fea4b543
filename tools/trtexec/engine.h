/// Loads an engine from a plan, in memory or in a file.
#pragma once

#include <memory>

#include "NvInferRuntime.h"
#include "options.h"
#include "plan_pieces.h"

namespace kiln::cli::trtexec {

class Log;

/// An engine with the runtime that it needs.
struct LoadedEngine {
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;  // goes first
};

/// The runtime's registry loads plugins first that are not in the plan.
LoadedEngine load_engine(PlanPieces plan, const Options& options, Log& log);
LoadedEngine load_engine(const std::string& file, const Options& options, Log& log);

/// --timeDeserialize: loads the plan again and again, and says how long that takes.
void time_loading(const std::string& file, const Options& options, Log& log);

/// --getPlanVersionOnly: the version of the API that a plan was built by. Nothing else of the plan is read.
void report_plan_version(const std::string& file, Log& log);

/// --dumpLayerInfo, --exportLayerInfo and --dumpOptimizationProfile. `context` may be null.
void report_layers(const ReportOptions& options, nvinfer1::ICudaEngine& engine,
                   const nvinfer1::IExecutionContext* context, Log& log);

}  // namespace kiln::cli::trtexec
