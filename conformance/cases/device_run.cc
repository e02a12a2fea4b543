#include "device_run.h"

#include <algorithm>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"
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

Result<Ref<Backend>> cuda_backend() {
  static Result<std::unique_ptr<cuda::CudaDevice>> device = [] {
    auto created = cuda::CudaDevice::create(0);
    if (created) (*created)->set_executor(std::make_unique<cuda::CudaExecutor>(**created));
    return created;
  }();
  if (!device) return std::unexpected(device.error());
  static cuda::CudaBackend backend(**device);
  return Ref<Backend>(backend);
}

namespace {

/// What a network reads or writes, in memory of the device.
class Binding {
 public:
  static Result<Binding> of(Device& device, Stream& stream, std::span<const std::byte> bytes) {
    Binding binding;
    if (device.is_host()) {
      binding.address_ = const_cast<std::byte*>(bytes.data());
      return binding;
    }
    binding.buffer_ = TRY(device.allocate(std::max<int64_t>(std::ssize(bytes), 1)));
    binding.address_ = binding.buffer_.data();
    TRY(device.copy_from_host(binding.address_, bytes.data(), std::ssize(bytes), stream));
    return binding;
  }
  std::byte* address() const { return address_; }

 private:
  Buffer buffer_;
  std::byte* address_ = nullptr;
};

}  // namespace

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
  std::vector<Binding> bindings;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(context->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    const bool on_host = plan->inputs[i].is_shape;
    if (!on_host) bindings.push_back(TRY(Binding::of(device, *stream, inputs[i].bytes())));
    context->set_input_address(static_cast<int>(i), on_host ? inputs[i].bytes().data() : bindings.back().address());
  }
  TRY(context->bind());
  std::vector<std::pair<std::byte*, std::span<std::byte>>> outputs;
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    auto fresh = TRY(HostTensor::make(plan->outputs[i].dtype, context->output_extents(static_cast<int>(i))));
    std::ranges::fill(fresh.data, std::byte{0xa5});
    bindings.push_back(TRY(Binding::of(device, *stream, fresh.data)));
    outputs.emplace_back(bindings.back().address(), fresh.data);
    context->set_output_address(static_cast<int>(i), outputs.back().first);
    result.outputs.push_back(std::move(fresh.tensor));
  }
  TRY(context->enqueue(*stream));
  TRY(stream->synchronize());
  if (!device.is_host())
    for (const auto& [address, host] : outputs)
      TRY(device.copy_to_host(host.data(), address, std::ssize(host), *stream));
  return result;
}

}  // namespace kiln
