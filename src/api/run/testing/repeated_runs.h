/// Runs of a context to their end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/run/testing/shared_memory.h"

namespace kiln::api::testing {

/// Runs on a GPU that have a recorded one among them: what comes again is recorded.
inline constexpr int kRunsToReplay = 4;

/// Enqueues `runs` runs, waits for each, and demands the same outputs of all. `errors` are what the context's logger
/// was told. Returns the first error; empty if all went well.
std::string run_repeatedly(nvinfer1::IExecutionContext& context, const std::map<std::string, OutputMemory>& outputs,
                           std::vector<std::string>& errors, int runs = is_on_gpu() ? kRunsToReplay : 1);

}  // namespace kiln::api::testing
