/// softmax(q k^T * scale + mask) v of row-major tensors, or of parts of them.
/// Inputs: what holds q, k, v, and the mask or nothing. Payload: scale, nan_rows_are_zero. Params: AttentionLayout's.
#include "backend/cpu/kernels/attention/attention.h"

#include "backend/cpu/exec/checks.h"
#include "steps/attention_layout.h"

namespace kiln::cpu {
namespace {

struct Attributes {
  float scale = 1;
  bool nan_rows_are_zero = false;
};

HeadStrides strides_of(const AttentionOperand& operand) {
  const auto& [batch, head, row, column] = operand.strides;
  return {batch, head, row, column};
}

class BoundAttention final : public BoundStep {
 public:
  BoundAttention(const Attributes& a, const AttentionLayout& layout, Team& team) : team_(team), layout_(layout) {
    const bool one_head = layout.k.strides[1] == 0 && layout.v.strides[1] == 0;
    shape_ = {.batch = layout.batch,
              .heads = layout.heads,
              .kv_heads = one_head ? std::min<int64_t>(layout.heads, 1) : layout.kv_heads,
              .queries = layout.queries,
              .keys = layout.keys,
              .depth = layout.depth,
              .value_depth = layout.value_depth,
              .scale = a.scale,
              .nan_rows_are_zero = a.nan_rows_are_zero};
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
  LoadedAttention(const Attributes& a, bool masked, Team& team) : a_(a), masked_(masked), team_(team) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const auto volume_of = [&](size_t i) { return volume(shapes.inputs[i]); };
    const AttentionLayout layout =
        TRY(AttentionLayout::parse(shapes.params, {volume_of(0), volume_of(1), volume_of(2),
                                                   masked_ ? volume_of(3) : -1, volume(shapes.outputs[0])}));
    return std::make_unique<BoundAttention>(a_, layout, team_);
  }

 private:
  Attributes a_;
  bool masked_;
  Team& team_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_attention(const LoadArguments& arguments) {
  const Record& p = arguments.spec.payload;
  TRY(require(arguments.spec.inputs.size() == 4 && arguments.spec.outputs.size() == 1, "an attention step has ",
              arguments.spec.inputs.size(), " inputs; it takes 4"));
  TRY(require_types(arguments.spec, DType::kF32));
  Attributes a;
  a.scale = static_cast<float>(TRY(p.get_double("scale")));
  a.nan_rows_are_zero = TRY(p.get_bool("nan_rows_are_zero"));
  return std::make_unique<LoadedAttention>(a, arguments.spec.inputs[3].present, arguments.team);
}

}  // namespace kiln::cpu
