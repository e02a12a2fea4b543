#include "steps/attention.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/attention/attention.h"
#include "steps/attention_layout.h"

namespace kiln::cpu {
namespace {

HeadStrides strides_of(const AttentionOperand& operand) {
  const auto& [batch, head, row, column] = operand.strides;
  return {batch, head, row, column};
}

class BoundAttention final : public BoundStep {
 public:
  BoundAttention(const steps::Attention& step, const AttentionLayout& layout, Team& team)
      : team_(team), layout_(layout) {
    const bool one_head = layout.k.strides[1] == 0 && layout.v.strides[1] == 0;
    shape_ = {.batch = layout.batch,
              .heads = layout.heads,
              .kv_heads = one_head ? std::min<int64_t>(layout.heads, 1) : layout.kv_heads,
              .queries = layout.queries,
              .keys = layout.keys,
              .depth = layout.depth,
              .value_depth = layout.value_depth,
              .scale = static_cast<float>(step.scale),
              .nan_rows_are_zero = step.nan_rows_are_zero};
    tensors_.q_strides = strides_of(layout.q);
    tensors_.k_strides = strides_of(layout.k);
    tensors_.v_strides = strides_of(layout.v);
    tensors_.mask_strides = strides_of(layout.mask);
    tensors_.out_strides = strides_of(layout.out);
  }
  int64_t workspace_bytes() const override { return attention_workspace_bytes(shape_, team_.size()); }
  Status run(const RunArguments& arguments) override {
    AttentionTensors t = tensors_;
    const auto input = [&](size_t i, const AttentionOperand& operand) {
      return static_cast<const float*>(arguments.inputs[i]) + operand.offset;
    };
    t.q = input(0, layout_.q);
    t.k = input(1, layout_.k);
    t.v = input(2, layout_.v);
    if (arguments.inputs[3]) t.mask = input(3, layout_.mask);
    t.out = static_cast<float*>(arguments.outputs[0]) + layout_.out.offset;
    attention(team_, shape_, t, arguments.workspace);
    return {};
  }

 private:
  Team& team_;
  AttentionLayout layout_;
  AttentionShape shape_;
  AttentionTensors tensors_{};
};

class LoadedAttention final : public LoadedStep {
 public:
  LoadedAttention(const steps::Attention& step, Team& team) : step_(step), team_(team) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundAttention>(step_, AttentionLayout::of(shapes.params), team_);
  }

 private:
  steps::Attention step_;
  Team& team_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Attention& step, const LoadArguments& arguments) {
  const DType q = arguments.spec.inputs[0].dtype;
  TRY(require(q == DType::kF32 && !step.causal, "the CPU has no kernel of ", step.causal ? "causal " : "",
              "attention of ", q));
  return std::make_unique<LoadedAttention>(step, arguments.team);
}

}  // namespace kiln::cpu
