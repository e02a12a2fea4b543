#include "steps/recurrence.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/recurrence/recurrence.h"
#include "ops/infer_context.h"
#include "steps/by_function.h"
#include "steps/packs_constants.h"

namespace kiln::cpu {
namespace {

using ops::Recurrence;

RecurrenceTensors tensors_of(const RunArguments& run, size_t num_inputs, size_t num_outputs) {
  const auto input = [&](int i) { return static_cast<size_t>(i) < num_inputs ? run.inputs[i] : nullptr; };
  const auto output = [&](int i) {
    return static_cast<size_t>(i) < num_outputs ? static_cast<float*>(run.outputs[i]) : nullptr;
  };
  return {.x = static_cast<const float*>(input(Recurrence::kX)),
          .sequence_lens = static_cast<const int32_t*>(input(Recurrence::kSequenceLens)),
          .initial_h = static_cast<const float*>(input(Recurrence::kInitialH)),
          .initial_c = static_cast<const float*>(input(Recurrence::kInitialC)),
          .y = output(Recurrence::kY),
          .y_h = output(Recurrence::kYH),
          .y_c = output(Recurrence::kYC),
          .workspace = reinterpret_cast<float*>(run.workspace)};
}

/// Fails unless the op takes weights of these extents, whatever x may be. Null where absent.
Status require_weights(const Recurrence& op, std::span<const HostTensor* const> constants) {
  const HostTensor *w = constants[Recurrence::kW], &r = *constants[Recurrence::kR];
  const HostTensor& widest = w ? *w : r;
  TRY(require(widest.rank() == 3, "a recurrence's ", w ? "w" : "r", " is ", widest.extents(),
              "; three axes are needed"));
  const int64_t input = w ? w->extents()[2] : r.extents()[0] * r.extents()[1];
  std::vector<TensorType> types(constants.size());
  std::vector<InferInput> inputs(constants.size());
  types[0] = tensor_type(DType::kF32, Extents{1, 1, input});
  inputs[0].type = types.data();
  for (size_t i = 1; i < constants.size(); ++i)
    if (constants[i]) {
      types[i] = tensor_type(constants[i]->dtype(), constants[i]->extents());
      inputs[i].type = &types[i];
    }
  sym::Table table;
  TRY(infer_types(op, inputs, table));
  return {};
}

class LoadedRecurrence final : public PacksConstants {
 public:
  LoadedRecurrence(RecurrenceWeights weights, Team& team) : weights_(std::move(weights)), team_(team) {}

  int64_t packed_bytes() const override {
    int64_t floats = weights_.a_bias.size() + weights_.u_bias.size() + weights_.peepholes.size();
    for (const auto* all : {&weights_.w, &weights_.r})
      for (const PackedB& one : *all) floats += one.data.size();
    return 4 * floats;
  }
  ConstantUse constant_use(int input) const override {
    if (input == Recurrence::kB || input == Recurrence::kP) return ConstantUse::kRounded;
    return input == Recurrence::kW || input == Recurrence::kR ? ConstantUse::kPacked : ConstantUse::kRead;
  }
  void unpack(int input, std::span<std::byte> into) const override {
    unpack_gates(weights_, input == Recurrence::kW ? weights_.w : weights_.r, reinterpret_cast<float*>(into.data()));
  }

 private:
  BindResult bind_checked(const StepShapes& shapes) const override {
    const RecurrencePlan plan =
        plan_recurrence(weights_, shapes.inputs[Recurrence::kX], shapes.inputs[Recurrence::kR], team_.size());
    TRY(require(plan.shape.input == weights_.input && plan.shape.hidden == weights_.hidden,
                "a recurrence's weights have other extents than those that were packed"));
    return bound_step(
        [plan, &team = team_, inputs = shapes.inputs.size(), outputs = shapes.outputs.size()](const RunArguments& run) {
          return run_recurrence(team, plan, tensors_of(run, inputs, outputs));
        },
        plan.workspace_bytes());
  }

  const RecurrenceWeights weights_;
  Team& team_;
};

}  // namespace

LoadResult load(const steps::Recurrence& step, const LoadArguments& arguments) {
  const auto& inputs = arguments.spec.inputs;
  const HostTensor* constants[Recurrence::kP + 1] = {};
  TRY(require(inputs[0].dtype == DType::kF32, "recurrences on the CPU are f32"));
  for (const int i : {Recurrence::kW, Recurrence::kR, Recurrence::kB, Recurrence::kP})
    if (const auto at = static_cast<size_t>(i); at < inputs.size() && inputs[at].present) {
      TRY(require(arguments.constants[at] != nullptr, "input ", i, " of a recurrence is not a constant"));
      constants[i] = arguments.constants[at];
    }
  TRY(require_weights(step.op, constants));
  RecurrenceWeights weights = TRY(pack_recurrence(step.op, constants[Recurrence::kW], *constants[Recurrence::kR],
                                                  constants[Recurrence::kB], constants[Recurrence::kP]));
  return std::make_unique<LoadedRecurrence>(std::move(weights), arguments.team);
}

}  // namespace kiln::cpu
