/// A graph built and run on a backend, for tests.
#pragma once

#include <string>
#include <vector>

#include "builder/build.h"
#include "tensor/host_tensor.h"

namespace kiln {

struct DeviceRun {
  std::vector<HostTensor> outputs;
  std::vector<std::string> tactics;  ///< of the steps that ran
};

/// Backends with a device of their own, made once.
Result<Ref<Backend>> cpu_backend();
/// Fails with kNotFound where there is no GPU.
Result<Ref<Backend>> cuda_backend();

/// Builds `graph`, whose shapes are static, and runs it on `inputs`. Outputs' memory is filled with garbage before.
Result<DeviceRun> run_on(Backend& backend, const ir::Graph& graph, std::span<const HostTensor> inputs,
                         const BuildRequest& request);

}  // namespace kiln
