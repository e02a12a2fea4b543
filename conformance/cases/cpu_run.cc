#include "cpu_run.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "plan/reader.h"
#include "plan/writer.h"
#include "runtime/context.h"

namespace kiln {
namespace {
Result<Ref<cpu::CpuDevice>> device() {
  static Result<std::unique_ptr<cpu::CpuDevice>> made = [] {
    auto created = cpu::CpuDevice::create(2);
    if (created) (*created)->set_executor(std::make_unique<cpu::CpuExecutor>((*created)->team()));
    return created;
  }();
  if (!made) return std::unexpected(made.error());
  return std::ref(**made);
}
}  // namespace

Result<CpuRun> run_on_cpu(const ir::Graph& graph, std::span<const HostTensor> inputs, const BuildRequest& request) {
  NullLog log;
  cpu::CpuDevice& cpu = TRY(device());
  cpu::CpuBackend backend(cpu);
  const plan::Plan built = TRY(build_plan(graph, backend, request, log));
  const auto plan = TRY(plan::read_plan(TRY(plan::write_plan(built))));  // what runs is what was saved
  CpuRun result;
  for (const plan::Step& step : plan->profiles[0].steps) result.tactics.push_back(TRY(step.info.get_text("tactic")));
  const auto engine = TRY(runtime::Engine::load(plan, cpu, log));
  const auto context = TRY(runtime::Context::create(engine, runtime::Context::Memory::kOwn));
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(context->set_input_extents(static_cast<int>(i), inputs[i].extents()));
    context->set_input_address(static_cast<int>(i), inputs[i].bytes().data());
  }
  TRY(context->bind());
  for (size_t i = 0; i < plan->outputs.size(); ++i) {
    auto fresh = TRY(HostTensor::make(plan->outputs[i].dtype, context->output_extents(static_cast<int>(i))));
    context->set_output_address(static_cast<int>(i), fresh.data.data());
    result.outputs.push_back(std::move(fresh.tensor));
  }
  const auto stream = TRY(cpu.create_stream());
  TRY(context->enqueue(*stream));
  TRY(stream->synchronize());
  return result;
}

}  // namespace kiln
