/// Layer, instance and group normalisation: kernels/lanes.
#include "ops/normalization.h"

#include <algorithm>

#include "backend/cpu/tactics/fallback.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

/// The axes [first, rank) are normalised?
bool is_innermost(const ops::Normalization& op, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : op.axes) reduced[static_cast<size_t>(*normalize_axis(axis, rank))] = true;
  const auto first = std::ranges::find(reduced, true);
  return first != reduced.end() && std::all_of(first, reduced.end(), [](bool r) { return r; });
}

/// Whether a coefficient has exactly the extents of x's axes [first, last] and 1 elsewhere.
bool spans(const TensorType& coefficient, const TensorType& x, int first, int last) {
  const int missing = x.rank() - coefficient.rank();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const sym::Expr extent = axis < missing ? sym::Expr(1) : coefficient.shape[static_cast<size_t>(axis - missing)];
    const sym::Expr wanted = axis >= first && axis <= last ? x.shape[static_cast<size_t>(axis)] : sym::Expr(1);
    if (extent != wanted) return false;
  }
  return true;
}

class NormalizationTactic final : public Tactic {
 public:
  std::string_view name() const override { return "normalization"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const auto& op = *node.op.as<ops::Normalization>();
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (x.dtype != DType::kF32) return reject("x is ", x, "; the kernel's coefficients are f32");
    if (!is_innermost(op, x.rank())) return reject("axes ", op.axes, " are not the innermost of ", x);
    const bool rows = is_rows(op, x);
    if (!rows && static_cast<int>(op.axes.size()) != x.rank() - 2)
      return reject("axes ", op.axes, " of ", x, " are neither rows nor planes");
    Region region = single_node_region(cx.graph, root);
    region.inputs.resize(3, ir::ValueId::kNone);
    const int first = rows ? x.rank() - static_cast<int>(op.axes.size()) : 1, last = rows ? x.rank() - 1 : 1;
    for (size_t i = 1; i < 3; ++i)
      if (region.inputs[i] != ir::ValueId::kNone && !spans(cx.graph.type(region.inputs[i]), x, first, last))
        return reject("coefficients are ", cx.graph.type(region.inputs[i]),
                      "; the kernel takes one an element of axes ", first, " to ", last, " of ", x);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const TensorType& x = cx.graph.type(region.inputs[0]);
    if (is_rows(op_of(cx, region), x)) return result;
    const Format last = Format::channels_last(x.rank());
    if (!last.is_linear()) result.push_back({"channels last", {last, {}, {}}, {last}, {}, 0});
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant&) const override {
    const ops::Normalization& op = op_of(cx, region);
    const TensorType& x = cx.graph.type(region.inputs[0]);
    StepDraft draft{.executor = "cpu", .kernel = "normalization", .in_place_input = 0};
    const bool rows = is_rows(op, x);
    // Without groups, a plane of a channel is normalised by itself: as many groups as channels.
    int64_t groups = op.groups;
    if (!rows && op.groups == 1 && !reduces_channels(op, x)) {
      const auto channels = x.shape[1].constant();
      TRY(require(channels.has_value(), "the channels of ", x,
                  " are dynamic; instance normalisation needs them constant"));
      groups = *channels;
    }
    draft.payload.set("rows", rows).set("axes", static_cast<int64_t>(op.axes.size()));
    draft.payload.set("groups", groups).set("epsilon", op.epsilon);
    return draft;
  }

 private:
  static const ops::Normalization& op_of(const TacticContext& cx, const Region& region) {
    return *cx.graph.node(region.nodes[0]).op.as<ops::Normalization>();
  }
  static bool reduces_channels(const ops::Normalization& op, const TensorType& x) {
    return std::ranges::any_of(op.axes, [&](int64_t axis) { return *normalize_axis(axis, x.rank()) == 1; });
  }
  /// Whether coefficients run along the normalised axes, as layer norm has them; else along the channels.
  static bool is_rows(const ops::Normalization& op, const TensorType& x) {
    return op.groups == 1 &&
           (x.rank() < 3 || static_cast<int>(op.axes.size()) != x.rank() - 2 || reduces_channels(op, x));
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Normalization>() {
  static const NormalizationTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cpu
