#include "steps/attention.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/attention/attention.h"
#include "steps/attention_layout.h"
#include "steps/by_function.h"

namespace kiln::cpu {
namespace {

HeadStrides strides_of(const AttentionOperand& operand) {
  const auto& [batch, head, row, column] = operand.strides;
  return {batch, head, row, column};
}

std::unique_ptr<BoundStep> bind(const steps::Attention& step, const AttentionLayout& layout, Team& team) {
  const bool one_head = layout.k.strides[1] == 0 && layout.v.strides[1] == 0;
  const AttentionShape shape{.batch = layout.batch,
                             .heads = layout.heads,
                             .kv_heads = one_head ? std::min<int64_t>(layout.heads, 1) : layout.kv_heads,
                             .queries = layout.queries,
                             .keys = layout.keys,
                             .depth = layout.depth,
                             .value_depth = layout.value_depth,
                             .scale = static_cast<float>(step.scale),
                             .nan_rows_are_zero = step.nan_rows_are_zero};
  AttentionTensors strides{};
  strides.q_strides = strides_of(layout.q);
  strides.k_strides = strides_of(layout.k);
  strides.v_strides = strides_of(layout.v);
  strides.mask_strides = strides_of(layout.mask);
  strides.out_strides = strides_of(layout.out);
  const auto run = [&team, layout, shape, strides](const RunArguments& arguments) {
    AttentionTensors t = strides;
    const auto input = [&](size_t i, const AttentionOperand& operand) {
      return static_cast<const float*>(arguments.inputs[i]) + operand.offset;
    };
    t.q = input(0, layout.q);
    t.k = input(1, layout.k);
    t.v = input(2, layout.v);
    if (arguments.inputs[3]) t.mask = input(3, layout.mask);
    t.out = static_cast<float*>(arguments.outputs[0]) + layout.out.offset;
    attention(team, shape, t, arguments.workspace);
  };
  return bound_step(run, attention_workspace_bytes(shape, team.size()));
}

}  // namespace

LoadResult load(const steps::Attention& step, const LoadArguments& arguments) {
  const DType q = arguments.spec.inputs[0].dtype;
  const DType y = arguments.spec.outputs[0].dtype;
  TRY(require(q == DType::kF32 && y == q && !step.causal, "the CPU has no kernel for ", step.causal ? "causal " : "",
              "attention of ", q, " to ", y));
  TRY(require(arguments.spec.inputs.size() == steps::Attention::kInputs,
              "the CPU has no kernel for attention to keys of two tensors"));
  return loaded_step([step, &team = arguments.team](const StepShapes& shapes) {
    return bind(step, AttentionLayout::of(shapes.params), team);
  });
}

}  // namespace kiln::cpu
