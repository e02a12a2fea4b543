/// Transposes: copies, or nothing at all where the formats around them already have the order.
#include "ops/transpose.h"

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// Whether y in format `out` lies in memory as x in format `in` does.
bool is_view(std::span<const int64_t> perm, const Format& in, const Format& out) {
  for (int position = 0; position < static_cast<int>(perm.size()); ++position)
    if (perm[static_cast<size_t>(out.axis_at(position))] != in.axis_at(position)) return false;
  return true;
}

class TransposeTactic final : public Tactic {
 public:
  std::string_view name() const override { return "transpose"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& x = cx.graph.input_type(root, 0);
    if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
    const Format last = Format::channels_last(static_cast<int>(perm.size()));
    std::vector<Variant> result;
    for (const Format& in : {Format::linear(), last})
      for (const Format& out : {Format::linear(), last})
        if (is_view(perm, in, out) && !(in.is_linear() && out.is_linear()))
          result.push_back({str("view, ", in, " to ", out), {in}, {out}, {}, 0});
    result.push_back(linear_variant(region, "copy"));
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
    if (is_view(perm, variant.inputs[0], variant.outputs[0])) return cuda_step("view");
    const TensorType& x = cx.graph.type(region.inputs[0]);
    StepDraft draft = cuda_step("transpose");
    draft.payload.set("perm", perm);
    draft.binary = TRY(compile_moves(device_of(cx), x.dtype,
                                     [&](ExtentsOf at) { return std::vector{transpose_copy((x.*at)(), perm)}; }));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Transpose>() {
  static const TransposeTactic tactic;
  static const Tactic* const kList[] = {&attention_tactic(), &tactic};
  return kList;
}

}  // namespace kiln::cuda
