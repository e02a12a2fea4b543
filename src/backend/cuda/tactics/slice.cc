/// Slices in any mode: kernels/move.
#include "ops/slice.h"

#include <numeric>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/move/slice.h"
#include "backend/cuda/tactics/move.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/host_values.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// Numbers from the input if it is there, else from the attribute.
SymbolicValues given(const ir::Graph& graph, const ir::Node& node, size_t input,
                     const std::vector<int64_t>& attribute) {
  if (input < node.inputs.size() && node.inputs[input] != ir::ValueId::kNone) return host_values(graph, node, input);
  return {attribute.begin(), attribute.end()};
}

Result<SliceSpec> spec_of(const ir::Graph& graph, const ir::Node& node) {
  const auto& op = *node.op.as<ops::Slice>();
  const TensorType& x = graph.type(node.inputs[0]);
  std::vector<int> axes;
  for (const sym::Expr& axis : given(graph, node, 5, op.axes))
    axes.push_back(TRY(normalize_axis(axis.constant().value_or(INT64_MAX), x.rank())));
  if (axes.empty()) {
    axes.resize(x.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return slice_spec(x, given(graph, node, 1, op.starts), given(graph, node, 2, op.sizes),
                    given(graph, node, 3, op.strides), axes);
}

class SliceTactic final : public Tactic {
 public:
  std::string_view name() const override { return "slice"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (bits_of(x.dtype) < 8) return reject("x is ", x, "; elements of less than a byte are not moved");
    if (const auto spec = spec_of(cx.graph, node); !spec) return reject(spec.error().message);
    const ir::ValueId fill = node.inputs.size() > 4 ? node.inputs[4] : ir::ValueId::kNone;
    return Region{{root}, {node.inputs[0], fill}, {node.outputs[0]}, {}};
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    if (!last.is_linear()) result.push_back({"channels last", {last, {}}, {last}, {}, 0});
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const ir::Node& node = cx.graph.node(region.nodes[0]);
    const SliceSpec spec = TRY(spec_of(cx.graph, node));
    const SliceMode mode = node.op.as<ops::Slice>()->mode;
    StepDraft draft = cuda_step("slice");
    draft.params = spec.starts;
    draft.params.insert(draft.params.end(), spec.strides.begin(), spec.strides.end());
    draft.payload.set("mode", static_cast<int>(mode));
    const TensorType &x = cx.graph.type(region.inputs[0]), &y = cx.graph.type(region.outputs[0]);
    if (mode != SliceMode::kStrictBounds) {
      draft.binary = TRY(compile_kernel(cx, slice_source(bits_of(x.dtype) / 8)));
      return draft;
    }
    const auto ordered = [&](const Extents& extents) { return in_memory_order(variant.outputs[0], extents); };
    draft.binary = TRY(compile_moves(device_of(cx), x.dtype, [&](ExtentsOf at) {
      return std::vector{slice_copy(ordered((x.*at)()), ordered((y.*at)()), ordered(at_optimum(spec.starts)),
                                    ordered(at_optimum(spec.strides)))};
    }));
    return draft;
  }

 private:
  static Extents at_optimum(const std::vector<sym::Expr>& values) {
    Extents result;
    for (const sym::Expr& value : values) result.push_back(value.opt());
    return result;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Slice>() {
  static const SliceTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
