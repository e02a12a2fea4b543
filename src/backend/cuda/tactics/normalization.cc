/// Layer, instance and group normalisation: kernels/lanes.
#include "ops/normalization.h"

#include <algorithm>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/normalize.h"
#include "backend/cuda/kernels/lanes/normalize_held.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
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
    if (!sym::provably_equal(extent, wanted)) return false;
  }
  return true;
}

std::optional<RowTile> tile_of(const LaneExtents& at, int64_t most_cols, bool is_static, int element_bytes,
                               int num_sms) {
  if (is_static)
    if (const auto team = short_row_tile(at.outer, at.length, element_bytes, num_sms)) return team;
  return row_tile(at.outer, at.length, most_cols, element_bytes, num_sms);
}

class NormalizationTactic final : public Tactic {
 public:
  std::string_view name() const override { return "normalization"; }

  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const ir::Node& node = cx.graph.node(root);
    const auto& op = *node.op.as<ops::Normalization>();
    const TensorType& x = cx.graph.type(node.inputs[0]);
    if (!accumulates_in_f32(x.dtype)) return reject("x is ", x, "; the kernels take f32, f16 and bf16");
    if (!is_innermost(op, x.rank())) return reject("axes ", op.axes, " are not the innermost of ", x);
    Region region = single_node_region(cx.graph, root);
    region.inputs.resize(3, ir::ValueId::kNone);
    const int first = x.rank() - static_cast<int>(op.axes.size());
    const auto coefficients_span = [&](int from, int to) {
      return std::all_of(region.inputs.begin() + 1, region.inputs.end(), [&](ir::ValueId value) {
        return value == ir::ValueId::kNone || spans(cx.graph.type(value), x, from, to);
      });
    };
    const bool rows = op.groups == 1 && coefficients_span(first, x.rank() - 1);
    const bool one_group = first == 1 && op.groups == 1;  // of all channels
    const bool planes = (first == 2 || one_group) && coefficients_span(1, 1);
    if (!rows && !planes)
      return reject("the coefficients span neither the normalised axes ", op.axes, " of ", x, " nor its channels");
    // Without groups, a plane of a channel is normalised by itself: as many groups as channels.
    const bool apart = !rows && !one_group && op.groups == 1;
    const auto channels = apart ? x.shape[1].constant() : std::nullopt;
    if (apart && !channels) return reject("the channels of ", x, " are dynamic");
    region.data.set("rows", rows).set("axes", static_cast<int64_t>(op.axes.size())).set("epsilon", op.epsilon);
    region.data.set("groups", apart ? *channels : op.groups);
    return region;
  }

  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{linear_variant(region, "row-major")};
    const Format last = Format::channels_last(cx.graph.type(region.inputs[0]).rank());
    if (!*region.data.get_bool("rows") && !last.is_linear())
      result.push_back({"channels last", {last, {}, {}}, {last}, {}, 0});
    return result;
  }

  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const TensorType& x = cx.graph.type(region.inputs[0]);
    NormalizationKernels kernels{x.dtype, x.dtype, {}};
    for (const ir::ValueId coefficient : {region.inputs[1], region.inputs[2]})
      if (coefficient != ir::ValueId::kNone) kernels.coefficients = cx.graph.type(coefficient).dtype;
    StepDraft draft = cuda_step("normalization");
    draft.payload = region.data;
    draft.in_place_input = 0;
    if (TRY(region.data.get_bool("rows"))) {
      const auto axes = static_cast<size_t>(TRY(region.data.get_int("axes")));
      const auto lanes = [&](const Extents& extents) {
        return lane_extents(extents, extents.size() - axes, extents.size() - 1);
      };
      const LaneExtents at = lanes(x.opt_extents()), most = lanes(x.max_extents());
      const int num_sms = device_of(cx).properties().num_multiprocessors;
      kernels.tile = tile_of(at, most.length, x.is_static(), bits_of(x.dtype) / 8, num_sms);
      kernels.few_rows = at.outer <= 4 * int64_t{num_sms};
      if (kernels.tile) draft.payload.set("tile", to_record(*kernels.tile));
    }
    std::vector<std::string> wanted;  // where shapes are known, few kernels are; else all
    if (!kernels.tile) {
      const NormalizationShape shape = TRY(shape_of(cx, region, variant));
      const int element = bits_of(x.dtype) / 8;
      kernels.vec = shape.vector(element);
      kernels.apart = shape.is_apart() && kernels.vec > 1;
      for (const int vec : {kernels.vec, 1})
        for (const NormalizationLaunch& launch :
             TRY(normalization_launches(shape, vec, element, true, group_room(device_of(cx).properties())))) {
          kernels.held = kernels.held || is_held(launch);
          kernels.slices = kernels.slices || launch.map;
          if (x.is_static()) wanted.push_back(launch.entry);
        }
      draft.payload.set("vec", kernels.vec).set("held", kernels.held).set("slices", kernels.slices);
    }
    draft.binary = TRY(compile_kernel(cx, normalization_source(kernels, wanted)));
    return draft;
  }

 private:
  /// At the optimum.
  static Result<NormalizationShape> shape_of(const TacticContext& cx, const Region& region, const Variant& variant) {
    const Extents at = cx.graph.type(region.inputs[0]).opt_extents();
    const auto axes = static_cast<size_t>(TRY(region.data.get_int("axes")));
    NormalizationShape shape;
    shape.rows = TRY(region.data.get_bool("rows"));
    shape.length = volume(std::span(at).last(axes));
    if (shape.rows) {
      shape.n = volume(at) / std::max<int64_t>(1, shape.length);
      return shape;
    }
    shape.n = at[0];
    shape.channels = at[1];
    shape.plane = volume(std::span(at).subspan(2));
    shape.groups = TRY(region.data.get_int("groups"));
    shape.channels_last = !variant.inputs[0].is_linear();
    return shape;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Normalization>() {
  static const NormalizationTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
