/// softmax(q k^T * scale + mask) v of row-major tensors with their axes in any order, but for the last of q and the
/// result, their channels.
/// Inputs: q, k, v, mask or absent. Payload: q, k, v, out (each the stored axes of [batch, head, row, column], of
/// [batch, row, column] where there are no heads), scale, nan_rows_are_zero.
#include "backend/cpu/kernels/attention/attention.h"

#include "backend/cpu/exec/executor.h"
#include "ops/transpose.h"

namespace kiln::cpu {
namespace {

using Axes = std::vector<int64_t>;

struct Attributes {
  Axes q, k, v, out;
  float scale = 1;
  bool nan_rows_are_zero = false;
};

/// A tensor's extents and strides as [batch, head, row, column]. What has one index repeats.
struct View {
  int64_t batch, heads, rows, columns;
  HeadStrides strides;

  View(const Axes& axes, const Extents& extents) {
    Extents sizes, steps;
    for (const int64_t axis : axes) {
      const auto at = static_cast<size_t>(axis);
      sizes.push_back(extents[at]);
      steps.push_back(extents[at] == 1 ? 0 : volume(std::span(extents).subspan(at + 1)));
    }
    if (axes.size() == 3) sizes.insert(sizes.begin() + 1, 1), steps.insert(steps.begin() + 1, 0);
    batch = sizes[0], heads = sizes[1], rows = sizes[2], columns = sizes[3];
    strides = {steps[0], steps[1], steps[2], sizes[3] == 1 ? 1 : steps[3]};
  }
};

Axes in_order(int rank) { return rank == 4 ? Axes{0, 1, 2, 3} : Axes{0, 1, 2}; }

class BoundAttention final : public BoundStep {
 public:
  BoundAttention(const Attributes& a, bool masked, Team& team, const StepShapes& shapes) : team_(team) {
    const View q(a.q, shapes.inputs[0]), k(a.k, shapes.inputs[1]), v(a.v, shapes.inputs[2]);
    const View out(a.out, shapes.outputs[0]);
    const bool one_head = k.heads == 1 && v.heads == 1;
    shape_ = {.batch = out.batch,
              .heads = out.heads,
              .kv_heads = one_head ? std::min<int64_t>(out.heads, 1) : out.heads,
              .queries = out.rows,
              .keys = k.rows,
              .depth = q.columns,
              .value_depth = out.columns,
              .scale = a.scale,
              .nan_rows_are_zero = a.nan_rows_are_zero};
    tensors_.q_strides = q.strides;
    tensors_.k_strides = k.strides;
    tensors_.v_strides = v.strides;
    tensors_.out_strides = out.strides;
    if (masked) tensors_.mask_strides = View(in_order(static_cast<int>(a.q.size())), shapes.inputs[3]).strides;
  }
  int64_t workspace_bytes() const override { return attention_workspace_bytes(shape_, team_.size()); }
  Status run(const RunArguments& arguments) override {
    AttentionTensors t = tensors_;
    t.q = static_cast<const float*>(arguments.inputs[0]);
    t.k = static_cast<const float*>(arguments.inputs[1]);
    t.v = static_cast<const float*>(arguments.inputs[2]);
    t.mask = static_cast<const float*>(arguments.inputs[3]);
    t.out = static_cast<float*>(arguments.outputs[0]);
    attention(team_, shape_, t, arguments.workspace);
    return {};
  }

 private:
  Team& team_;
  AttentionShape shape_;
  AttentionTensors tensors_{};
};

class LoadedAttention final : public LoadedStep {
 public:
  LoadedAttention(Attributes a, bool masked, Team& team) : a_(std::move(a)), masked_(masked), team_(team) {}
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    return std::make_unique<BoundAttention>(a_, masked_, team_, shapes);
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
  Attributes a{TRY(p.get_ints("q")), TRY(p.get_ints("k")), TRY(p.get_ints("v")), TRY(p.get_ints("out"))};
  const int rank = static_cast<int>(a.q.size());
  TRY(require(rank == 3 || rank == 4, "attention of ", rank, " axes; it has 3 or 4"));
  for (const Axes* axes : {&a.q, &a.k, &a.v, &a.out}) TRY(require_permutation(*axes, rank));
  TRY(require(a.q.back() == rank - 1 && a.out.back() == rank - 1, "the channels of q and the result come last"));
  for (const StepTensor& t : arguments.spec.inputs)
    TRY(require(!t.present || t.rank == rank, "an operand of attention has rank ", t.rank, ", not ", rank));
  a.scale = static_cast<float>(TRY(p.get_double("scale")));
  a.nan_rows_are_zero = TRY(p.get_bool("nan_rows_are_zero"));
  return std::make_unique<LoadedAttention>(std::move(a), arguments.spec.inputs[3].present, arguments.team);
}

}  // namespace kiln::cpu
