#include "tactics/movement/transpose.h"

#include "ops/transpose.h"
#include "steps/transpose.h"
#include "tactics/region.h"
#include "tactics/step_draft.h"

namespace kiln {
namespace {

/// Whether y in format `out` lies in memory as x in format `in` does.
bool same_memory(std::span<const int64_t> perm, const Format& in, const Format& out) {
  for (int position = 0; position < static_cast<int>(perm.size()); ++position)
    if (perm[static_cast<size_t>(out.axis_at(position))] != in.axis_at(position)) return false;
  return true;
}

}  // namespace

Match TransposeRegions::match(const TacticContext& cx, ir::NodeId root) const {
  const TensorType& x = cx.graph.input_type(root, 0);
  if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
  return single_node_region(cx.graph, root);
}

std::vector<Variant> TransposeRegions::variants(const TacticContext& cx, const Region& region) const {
  const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
  const Format last = Format::channels_last(static_cast<int>(perm.size()));
  std::vector<Variant> result;
  for (const Format& in : {Format::linear(), last})
    for (const Format& out : {Format::linear(), last})
      if (same_memory(perm, in, out) && !(in.is_linear() && out.is_linear()))
        result.push_back({str("view, ", in, " to ", out), {in}, {out}, {}, 0});
  result.push_back(linear_variant(region, "copy"));
  return result;
}

Result<StepDraft> TransposeRegions::draft(const TacticContext& cx, const Region& region, const Variant& variant) {
  const auto& perm = cx.graph.node(region.nodes[0]).op.as<ops::Transpose>()->perm;
  if (same_memory(perm, variant.inputs[0], variant.outputs[0])) return StepDraft();
  return step_draft(steps::Transpose{perm});
}

}  // namespace kiln
