#include "session.h"

#include <chrono>
#include <cstdio>

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"

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
  TRY(require(tensors.size() == plan->inputs.size(), "the network has ", plan->inputs.size(), " inputs; ",
              tensors.size(), " were given"));
  inputs = std::move(tensors);
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(require(inputs[i].dtype() == plan->inputs[i].dtype, "input '", plan->inputs[i].name, "' is ",
                plan->inputs[i].dtype, ", the tensor given is ", inputs[i].dtype()));
    TRY(context->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    context->set_input_address(static_cast<int>(i), inputs[i].bytes().data());
  }
  TRY(context->bind());
  outputs.clear();
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    HostTensor::Fresh fresh =
        TRY(HostTensor::make(plan->outputs[i].dtype, context->output_extents(static_cast<int>(i))));
    context->set_output_address(static_cast<int>(i), fresh.data.data());
    outputs.push_back(std::move(fresh.tensor));
  }
  return {};
}

Result<Session> build_session(const Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile) {
  PrintLog log(arguments.has("verbose"));
  Session session;
  session.device = TRY(cpu::CpuDevice::create(arguments.has("threads") ? std::stoi(arguments.get("threads"))
                                                                       : cpu::default_team_size()));
  session.device->set_executor(std::make_unique<cpu::CpuExecutor>(session.device->team()));
  cpu::CpuBackend backend(*session.device);
  BuildRequest request;
  request.numerics.tf32 = !arguments.has("noTF32");
  request.numerics.fp16 = arguments.has("fp16");
  request.numerics.bf16 = arguments.has("bf16");
  request.profiles.push_back(profile);
  const auto start = std::chrono::steady_clock::now();
  session.plan = std::make_shared<const plan::Plan>(TRY(build_plan(graph, backend, request, log)));
  std::printf("build  %.1f ms\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  session.engine = TRY(runtime::Engine::load(session.plan, *session.device, log));
  session.context = TRY(runtime::Context::create(session.engine, runtime::Context::Memory::kOwn));
  session.stream = TRY(session.device->create_stream());
  return session;
}

}  // namespace kiln
