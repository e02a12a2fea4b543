/// Concatenation, row-major or channels last: kernels/move.
#include "ops/concatenation.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

class ConcatenationTactic final : public Tactic {
 public:
  std::string_view name() const override { return "concatenation"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const TensorType& y = cx.graph.output_type(root);
    if (bits_of(y.dtype) < 8) return reject("y is ", y, "; elements of less than a byte are not moved");
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const Format last = Format::channels_last(cx.graph.type(region.outputs[0]).rank());
    if (last.is_linear()) return result;
    Variant variant{"channels last", {}, {last}, {}, 0};
    for (const ir::ValueId input : region.inputs) {
      if (cx.graph.constant(input)) return result;  // constants are stored row-major
      variant.inputs.push_back(last);
    }
    result.push_back(std::move(variant));
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const int rank = cx.graph.type(region.outputs[0]).rank();
    const int axis = TRY(normalize_axis(cx.graph.node(region.nodes[0]).op.as<ops::Concatenation>()->axis, rank));
    const Format& format = variant.outputs[0];
    int position = 0;
    while (format.axis_at(position) != axis) ++position;
    StepDraft draft = cuda_step("concatenation");
    draft.payload.set("axis", position);
    draft.binary = TRY(compile_moves(device_of(cx), cx.graph.type(region.outputs[0]).dtype, [&](ExtentsOf at) {
      std::vector<Extents> inputs;
      for (const ir::ValueId input : region.inputs)
        inputs.push_back(in_memory_order(format, (cx.graph.type(input).*at)()));
      return concatenation_copies(inputs, position);
    }));
    return draft;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Concatenation>() {
  static const ConcatenationTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
