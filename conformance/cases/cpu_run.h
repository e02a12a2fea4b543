/// A graph built and run on the CPU, for tests.
#pragma once

#include <string>
#include <vector>

#include "builder/build.h"
#include "tensor/host_tensor.h"

namespace kiln {

struct CpuRun {
  std::vector<HostTensor> outputs;
  std::vector<std::string> tactics;  ///< of the steps that ran
};

/// Builds `graph`, whose shapes are static, and runs it on `inputs`.

Result<CpuRun> run_on_cpu(const ir::Graph& graph, std::span<const HostTensor> inputs, const BuildRequest& request);

}  // namespace kiln
