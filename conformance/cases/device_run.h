/// A graph built and run on a backend, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/build.h"
#include "runtime/context.h"
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

/// A graph built, saved, loaded, and run by one context: at other shapes too, where the request's profile has a range.
class BuiltGraph {
 public:
  static Result<BuiltGraph> build(Backend& backend, const ir::Graph& graph, const BuildRequest& request);
  /// Loads a plan that the caller has made.
  static Result<BuiltGraph> load(Backend& backend, const plan::Plan& plan);
  /// Runs with other weights from now on.
  Status replace_weights(const runtime::NewWeights& weights);
  /// Inputs are row-major, the plan is given them in its formats; outputs come back row-major. Outputs' memory is
  /// filled with garbage before.
  Result<DeviceRun> run(std::span<const HostTensor> inputs);

 private:
  BuiltGraph(Device& device, std::shared_ptr<const plan::Plan> plan) : device_(&device), plan_(std::move(plan)) {}

  Device* device_;
  std::shared_ptr<const plan::Plan> plan_;
  std::shared_ptr<const runtime::Engine> engine_;
  std::unique_ptr<runtime::Context> context_;
};

/// Builds `graph` and runs it once.
Result<DeviceRun> run_on(Backend& backend, const ir::Graph& graph, std::span<const HostTensor> inputs,
                         const BuildRequest& request);

}  // namespace kiln
