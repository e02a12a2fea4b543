#include "session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cuda/exec/executor.h"
#include "backend/cuda/tactics/backend.h"
#include "base/counted.h"
#include "cli/tactic_sources.h"
#include "steps/plugin.h"

namespace kiln {
namespace {

class PrintLog final : public Log {
 public:
  explicit PrintLog(bool verbose) : verbose_(verbose) {}
  void write(Severity, std::string_view message) override {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  }
  bool wants(Severity severity) const override { return verbose_ || severity <= Severity::kWarning; }

 private:
  bool verbose_;
};

}  // namespace

Status Session::set_inputs(std::vector<HostTensor> tensors) {
  TRY(require(tensors.size() == plan->inputs.size(), "the network has ", counted(plan->inputs.size(), "input"), "; ",
              tensors.size(), tensors.size() == 1 ? " was given" : " were given"));
  inputs = std::move(tensors);
  inputs_there.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(require(inputs[i].dtype() == plan->inputs[i].dtype, "input '", plan->inputs[i].name, "' is ",
                plan->inputs[i].dtype, ", the tensor given is ", inputs[i].dtype()));
    TRY(context->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    const bool on_host = plan->inputs[i].is_shape;
    if (!on_host) inputs_there.push_back(TRY(Staging::of(*device, *stream, inputs[i].bytes())));
    context->set_input_address(static_cast<int>(i), on_host ? inputs[i].bytes().data() : inputs_there.back().address());
  }
  TRY(context->bind());
  output_places = std::make_unique<OutputPlaces>(*device, *stream, *plan);
  return output_places->make(*context);
}

Result<OutputPlaces::Place> OutputPlaces::place_of(int64_t bytes) {
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kU8, {bytes}));
  Staging there = TRY(Staging::of(device_, stream_, fresh.data));
  return Place{std::move(fresh.tensor), std::move(there)};
}

Status OutputPlaces::make(runtime::Context& context) {
  for (int i = 0; i < static_cast<int>(plan_.outputs.size()); ++i) {
    // One without a bound begins with nothing: `memory_of` makes its place.
    places_.push_back(TRY(place_of(std::max<int64_t>(context.largest_output_bytes(i), 0))));
    context.set_output_address(i, places_.back().there.address());
  }
  context.set_output_memory(this);
  return {};
}

Result<void*> OutputPlaces::memory_of(int output, const Extents& extents) {
  const auto i = static_cast<size_t>(output);
  const int64_t bytes = size_bytes(plan_.outputs[i].dtype, TRY(checked_volume(extents)));
  if (bytes > std::ssize(places_[i].tensor.bytes())) places_[i] = TRY(place_of(bytes));
  return places_[i].there.address();
}

Result<std::vector<HostTensor>> OutputPlaces::fetch(const runtime::Context& context) const {
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < places_.size(); ++i) {
    TRY(places_[i].there.fetch(device_, stream_));
    const Extents extents = context.latest_output_extents(static_cast<int>(i));
    HostTensor::Fresh cut = TRY(HostTensor::make(plan_.outputs[i].dtype, extents));
    std::copy_n(places_[i].tensor.bytes().begin(), cut.data.size(), cut.data.begin());
    outputs.push_back(std::move(cut.tensor));
  }
  return outputs;
}

namespace {

Result<std::unique_ptr<cuda::CudaDevice>> make_cuda_device() {
  auto made = TRY(cuda::CudaDevice::create(0));
  made->set_executor(std::make_unique<cuda::CudaExecutor>(*made));
  return made;
}

Result<std::unique_ptr<cpu::CpuDevice>> make_cpu_device(std::optional<cpu::Target> instructions) {
  auto made = TRY(cpu::CpuDevice::create(cpu::default_team_size(), instructions));
  made->set_executor(std::make_unique<cpu::CpuExecutor>(made->team()));
  return made;
}

Result<std::unique_ptr<Backend>> make_backend(const cli::Arguments& arguments, std::unique_ptr<Device>& device) {
  const std::string wanted = arguments.text("--backend", "cpu");
  TRY(require(wanted == "cpu" || wanted == "cuda", "--backend is '", wanted, "'; it may be cpu or cuda"));
  const std::string set = arguments.text("--instructions");
  const std::optional<cpu::Target> instructions = cpu::target_named(set);
  TRY(require(set.empty() || instructions, "--instructions is '", set, "'; it may be avx2, avx512 or neon"));
  TRY(require(set.empty() || wanted == "cpu", "--instructions is for --backend=cpu"));
  if (wanted == "cuda") {
    auto made = TRY(make_cuda_device());
    auto backend = std::make_unique<cuda::CudaBackend>(*made);
    device = std::move(made);
    return backend;
  }
  auto made = TRY(make_cpu_device(instructions));
  auto backend = std::make_unique<cpu::CpuBackend>(*made);
  device = std::move(made);
  return backend;
}

/// Fails for a plan with plugins, which live in libraries that call the API's: these programs hold the compiler itself.
Status check_no_plugins(const plan::Plan& plan) {
  for (const plan::Block* block : plan::blocks_of(plan))
    for (const plan::Step& step : block->steps)
      if (const auto* plugin = step.step.as<steps::Plugin>())
        return error(
            Code::kUnsupported, "step '", step.name, "' is the plugin '", plugin->plugin.name, "' version '",
            plugin->plugin.version,
            "', and kiln loads no plugins; trtexec --dynamicPlugins runs the plan, and shows its tensors where it "
            "was built with --markUnfusedTensorsAsDebugTensors");
  return {};
}

/// Loads the session's plan on its device.
Status load_engine(Session& session, Log& log) {
  session.engine = TRY(runtime::Engine::load(session.plan, *session.device, log));
  session.context = TRY(runtime::Context::create(session.engine, runtime::Context::Memory::kOwn));
  session.stream = TRY(session.device->create_stream());
  return {};
}

}  // namespace

Result<Session> build_session(const cli::Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile) {
  PrintLog log(arguments.has("--verbose"));
  Session session;
  const std::unique_ptr<Backend> backend = TRY(make_backend(arguments, session.device));
  BuildRequest request;
  request.numerics.tf32 = !arguments.has("--noTF32");
  request.numerics.fp16 = arguments.has("--fp16");
  request.numerics.bf16 = arguments.has("--bf16");
  request.numerics.strongly_typed = arguments.has("--stronglyTyped");
  const cli::TacticSourceChoice sources = cli::parse_tactic_sources(arguments.text("--tacticSources"));
  request.numerics.cublas_lt = sources.takes("CUBLAS_LT", request.numerics.cublas_lt);
  request.numerics.cudnn = sources.takes("CUDNN", request.numerics.cudnn);
  arguments.read("--builderOptimizationLevel", request.optimization_level, 0, 5);
  arguments.read("--maxAuxStreams", request.most_aux_streams, 0);
  request.profiles.push_back(profile);
  const auto start = std::chrono::steady_clock::now();
  session.plan = std::make_shared<const plan::Plan>(TRY(build_plan(graph, *backend, request, log)));
  session.build_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  TRY(load_engine(session, log));
  return session;
}

Result<Session> load_session(std::shared_ptr<const plan::Plan> plan) {
  TRY(check_no_plugins(*plan));
  Session session;
  if (plan->device_kind == "cuda")
    session.device = TRY(make_cuda_device());
  else
    session.device = TRY(make_cpu_device({}));
  session.plan = std::move(plan);
  NullLog silence;
  TRY(load_engine(session, silence));
  return session;
}

}  // namespace kiln
