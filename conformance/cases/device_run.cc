#include "device_run.h"

#include <algorithm>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"
#include "device/staging.h"
#include "formatted.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "runtime/context.h"

namespace kiln {

Result<Ref<Backend>> cpu_backend() {
  static Result<std::unique_ptr<cpu::CpuDevice>> device = [] {
    auto created = cpu::CpuDevice::create(2);
    if (created) (*created)->set_executor(std::make_unique<cpu::CpuExecutor>((*created)->team()));
    return created;
  }();
  if (!device) return std::unexpected(device.error());
  static cpu::CpuBackend backend(**device);
  return Ref<Backend>(backend);
}

/// Never destroyed: libraries that it loaded when it was there already, as cuBLASLt, end before it would.
Result<Ref<Backend>> cuda_backend() {
  static const auto& device = *new Result<std::unique_ptr<cuda::CudaDevice>>([] {
    auto created = cuda::CudaDevice::create(0);
    if (created) (*created)->set_executor(std::make_unique<cuda::CudaExecutor>(**created));
    return created;
  }());
  if (!device) return std::unexpected(device.error());
  static auto& backend = *new cuda::CudaBackend(**device);
  return Ref<Backend>(backend);
}

Result<BuiltGraph> BuiltGraph::build(Backend& backend, const ir::Graph& graph, const BuildRequest& request) {
  NullLog log;
  return load(backend, TRY(build_plan(graph, backend, request, log)));
}

Result<BuiltGraph> BuiltGraph::load(Backend& backend, const plan::Plan& plan) {
  NullLog log;
  Device& device = backend.device();
  BuiltGraph result(device, TRY(plan::read_plan(TRY(plan::write_plan(plan)))));  // what runs is what was saved
  result.engine_ = TRY(runtime::Engine::load(result.plan_, device, log));
  result.context_ = TRY(runtime::Context::create(result.engine_, runtime::Context::Memory::kOwn));
  return result;
}

Status BuiltGraph::replace_weights(const runtime::NewWeights& weights) {
  NullLog log;
  engine_ = TRY(engine_->with_weights(weights, log));
  context_ = TRY(runtime::Context::create(engine_, runtime::Context::Memory::kOwn));
  return {};
}

Result<DeviceRun> BuiltGraph::run(std::span<const HostTensor> inputs) {
  DeviceRun result;
  for (const plan::Step& step : plan_->profiles[0].steps) result.tactics.push_back(step.info.tactic);
  const auto stream = TRY(device_->create_stream());
  std::vector<HostTensor> inputs_here;
  std::vector<HostTensor::Fresh> outputs_here;
  std::vector<Staging> inputs_there, outputs_there;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(context_->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    inputs_here.push_back(to_format(inputs[i], plan_->inputs[i].format));
    const bool on_host = plan_->inputs[i].is_shape;
    if (!on_host) inputs_there.push_back(TRY(Staging::of(*device_, *stream, inputs_here.back().bytes())));
    context_->set_input_address(static_cast<int>(i),
                                on_host ? inputs_here.back().bytes().data() : inputs_there.back().address());
  }
  TRY(context_->bind());
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    outputs_here.push_back(garbage(context_->largest_output_bytes(static_cast<int>(i))));
    outputs_there.push_back(TRY(Staging::of(*device_, *stream, outputs_here.back().data)));
    context_->set_output_address(static_cast<int>(i), outputs_there.back().address());
  }
  TRY(context_->enqueue(*stream));
  TRY(stream->synchronize());
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    TRY(outputs_there[i].fetch(*device_, *stream));
    const plan::IoTensor& output = plan_->outputs[i];
    const Extents extents = context_->latest_output_extents(static_cast<int>(i));
    const int64_t bytes = size_bytes(output.dtype, output.format.storage_volume(extents));
    result.outputs.push_back(
        from_format(output.dtype, extents, output.format, outputs_here[i].data.first(static_cast<size_t>(bytes))));
  }
  return result;
}

Result<DeviceRun> run_on(Backend& backend, const ir::Graph& graph, std::span<const HostTensor> inputs,
                         const BuildRequest& request) {
  BuiltGraph built = TRY(BuiltGraph::build(backend, graph, request));
  return built.run(inputs);
}

}  // namespace kiln
