#include "runtime/step_loader.h"

#include <algorithm>

namespace kiln::runtime {
namespace {

/// A kernel to load for a step: its own, or an alternative's.
struct Kernel {
  const AnyStep& step;
  const Record& tuning;
  int binary;
  const std::vector<sym::Program>& params;
};

Kernel kernel_of(const plan::Step& step, int kernel) {
  if (kernel == kOwnKernel) return {step.step, step.tuning, step.binary, step.params};
  const plan::Alternative& other = step.alternatives[static_cast<size_t>(kernel)];
  return {other.step, other.tuning, other.binary, other.params};
}

/// A step all of whose outputs are empty. Beside an extent of 0 others may be of any size: kernels need not know.
class NothingToDo final : public BoundStep {
  Status run(const RunArguments&) override { return {}; }
};
/// A step of a plan that cannot be loaded, or does not take its shapes, is a fault of the plan: programs cannot ask for
/// it.
template <class T>
Result<T> from_plan(Result<T> result, std::string_view step, bool loads) {
  if (result) return result;
  const auto& [code, message] = result.error();
  const bool damaged = code == Code::kCorrupt || (loads && code == Code::kInvalidArgument);
  return error(damaged ? Code::kCorrupt : code, "step '", step, "': ", message,
               damaged ? ": the plan is damaged, build it again" : "");
}

bool is_empty(const Extents& extents) { return std::ranges::count(extents, 0) > 0; }

Result<std::unique_ptr<BoundStep>> bind_to(const LoadedStep& loaded, const StepShapes& shapes, bool decides_sizes,
                                           StateSource states) {
  const auto* keeps = loaded.keeps_state();
  std::byte* const state = keeps ? TRY(states(*keeps)) : nullptr;
  const bool runs_always = decides_sizes || (keeps && keeps->runs_for_nothing());
  if (!runs_always && !shapes.outputs.empty() && std::ranges::all_of(shapes.outputs, is_empty))
    return std::make_unique<NothingToDo>();
  return state ? keeps->bind_with_state(shapes, state) : loaded.bind(shapes);
}

}  // namespace

StepSpec spec_of(const plan::Plan& plan, const plan::Block& block, const plan::Step& step, int kernel) {
  const Kernel k = kernel_of(step, kernel);
  StepSpec spec{{{}, {}, static_cast<int>(k.params.size()), static_cast<int>(step.sizes.size())}, k.step, k.tuning};
  if (k.binary >= 0) spec.binary = plan.binaries[static_cast<size_t>(k.binary)].value.bytes();
  const auto describe = [&](int id) {
    const plan::Tensor& t = block.tensors[static_cast<size_t>(id)];
    return StepTensor{t.dtype, t.format, static_cast<int>(t.extents.size()), t.place != plan::Place::kAbsent};
  };
  for (const int id : step.inputs) spec.inputs.push_back(describe(id));
  for (const int id : step.outputs) spec.outputs.push_back(describe(id));
  return spec;
}

Result<std::vector<Extents>> tensor_extents(const plan::Block& block, std::span<const int64_t> symbols,
                                            const std::vector<bool>* only) {
  std::vector<Extents> result(block.tensors.size());
  for (size_t t = 0; t < result.size(); ++t)
    for (size_t axis = 0; axis < block.tensors[t].extents.size() && (!only || (*only)[t]); ++axis)
      result[t].push_back(TRY(in_context(block.tensors[t].extents[axis].run(symbols),
                                         [&] { return str("shape of '", block.tensors[t].name, "'"); })));
  return result;
}

Result<std::unique_ptr<BoundStep>> bind(const LoadedStep& loaded, const plan::Step& step, int kernel,
                                        std::span<const Extents> tensor_extents, std::span<const int64_t> symbols,
                                        StateSource states) {
  std::vector<Extents> inputs, outputs;
  std::vector<int64_t> params;
  for (const int id : step.inputs) inputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const int id : step.outputs) outputs.push_back(tensor_extents[static_cast<size_t>(id)]);
  for (const sym::Program& param : kernel_of(step, kernel).params) params.push_back(TRY(param.run(symbols)));
  return from_plan(bind_to(loaded, {inputs, outputs, params}, !step.sizes.empty(), states), step.name, false);
}

Hash128 StepLoader::key(const plan::Block& block, const plan::Step& step, int kernel) const {
  const StepSpec spec = spec_of(plan_, block, step, kernel);
  std::vector<int> weights;
  for (const int id : step.inputs) {
    const plan::Tensor& t = block.tensors[static_cast<size_t>(id)];
    const int same = t.place == plan::Place::kWeight ? plan_.weights[static_cast<size_t>(t.index)].same_as : -1;
    weights.push_back(t.place != plan::Place::kWeight ? -1 : same >= 0 ? same : t.index);
  }
  std::string text = str(step.executor, '/', spec.num_params, '/', weights, '/', kernel_of(step, kernel).binary);
  for (const auto* tensors : {&spec.inputs, &spec.outputs}) {
    text += '|';
    for (const StepTensor& t : *tensors) text += str(t.dtype, t.format, t.rank, t.present);
  }
  return combine(combine(hash128(std::string_view(text)), spec.step.hash()), hash128(spec.tuning));
}

std::vector<const HostTensor*> StepLoader::constants(const plan::Block& block, const plan::Step& step) const {
  std::vector<const HostTensor*> result;
  for (const int id : step.inputs) {
    const plan::Tensor& t = block.tensors[static_cast<size_t>(id)];
    const bool is_weight = t.place == plan::Place::kWeight;
    result.push_back(is_weight ? &weights_.at(t) : nullptr);
  }
  return result;
}

Result<std::unique_ptr<const LoadedStep>> StepLoader::load(const plan::Block& block, const plan::Step& step,
                                                           int kernel) const {
  StepSpec spec = spec_of(plan_, block, step, kernel);
  spec.memory = memory_;
  Executor& executor = TRY(device_.executor(step.executor));
  return TRY(from_plan(executor.load(spec, constants(block, step)), step.name, true));
}

}  // namespace kiln::runtime
