#include "device_run.h"

#include <algorithm>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"
#include "device/staging.h"
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

Result<DeviceRun> run_on(Backend& backend, const ir::Graph& graph, std::span<const HostTensor> inputs,
                         const BuildRequest& request) {
  NullLog log;
  Device& device = backend.device();
  const plan::Plan built = TRY(build_plan(graph, backend, request, log));
  const auto plan = TRY(plan::read_plan(TRY(plan::write_plan(built))));  // what runs is what was saved
  DeviceRun result;
  for (const plan::Step& step : plan->profiles[0].steps) result.tactics.push_back(TRY(step.info.get_text("tactic")));
  const auto engine = TRY(runtime::Engine::load(plan, device, log));
  const auto context = TRY(runtime::Context::create(engine, runtime::Context::Memory::kOwn));
  const auto stream = TRY(device.create_stream());
  std::vector<Staging> inputs_there, outputs_there;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(context->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    const bool on_host = plan->inputs[i].is_shape;
    if (!on_host) inputs_there.push_back(TRY(Staging::of(device, *stream, inputs[i].bytes())));
    context->set_input_address(static_cast<int>(i), on_host ? inputs[i].bytes().data() : inputs_there.back().address());
  }
  TRY(context->bind());
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    auto fresh = TRY(HostTensor::make(plan->outputs[i].dtype, context->output_extents(static_cast<int>(i))));
    std::ranges::fill(fresh.data, std::byte{0xa5});
    outputs_there.push_back(TRY(Staging::of(device, *stream, fresh.data)));
    context->set_output_address(static_cast<int>(i), outputs_there.back().address());
    result.outputs.push_back(std::move(fresh.tensor));
  }
  TRY(context->enqueue(*stream));
  TRY(stream->synchronize());
  for (const Staging& output : outputs_there) TRY(output.fetch(device, *stream));
  return result;
}

}  // namespace kiln
