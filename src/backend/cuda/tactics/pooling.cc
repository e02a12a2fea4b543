/// Maximum and average pooling: kernels/pool.
#include "ops/pooling.h"

#include "backend/cuda/exec/filter.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/pool/pool.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

/// One number a spatial axis; an empty attribute means `absent` for each.
Extents or_all(const std::vector<int64_t>& attribute, size_t axes, int64_t absent) {
  return attribute.empty() ? Extents(axes, absent) : Extents(attribute);
}

class PoolingTactic final : public Tactic {
 public:
  std::string_view name() const override { return "pooling"; }
  Match match(const TacticContext& cx, ir::NodeId root) const override {
    const auto& op = *cx.graph.node(root).op.as<ops::Pooling>();
    const TensorType& x = cx.graph.input_type(root, 0);
    if (!can_pool(kind_of(op), x.dtype))
      return reject("x is ", x, "; ", op.kind,
                    " pooling has kernels for f32, f16 and bf16, its maximum "
                    "for i8, u8 and i32");
    return single_node_region(cx.graph, root);
  }
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result{channels_last_variant(region, cx.graph.type(region.inputs[0]).rank()),
                                linear_variant(region, "channels first")};
    if (pieces_of(cx, region)) result.push_back(linear_variant(region, std::string(kPieces)));
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Pooling>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const size_t axes = op.window.size();
    const FilterSpec window = window_of(op);
    const bool last = !variant.inputs[0].is_linear();
    const int vec = last ? vector_width(x.opt_extents()[1], bits_of(x.dtype) / 8) : 1;
    StepDraft draft = cuda_step("pooling");
    draft.payload = window.record();
    draft.payload.set("post_pads", or_all(op.post_pads, axes, 0)).set("excludes_padding", op.average_excludes_padding);
    if (variant.name == kPieces) {
      const auto pieces = pieces_of(cx, region);
      CHECK(pieces);
      draft.payload.set("blend", op.blend).set("vec", 1).set("lines", false);
      draft.payload.set("left", pieces->left).set("pieces", pieces->vec);
      draft.binary = TRY(compile_kernel(cx, pool_source(x.dtype, kind_of(op), *pieces)));
      return draft;
    }
    const TensorType& y = cx.graph.type(region.outputs[0]);
    if (const auto tall = pool_tall(x.dtype, kind_of(op), window.kernel, window.strides, window.dilations);
        last && tall && vec * bits_of(x.dtype) == 128 &&
        is_large_tall(x.dtype, y.opt_extents(), device_of(cx).properties().num_multiprocessors)) {
      draft.payload.set("blend", op.blend).set("vec", vec).set("lines", false).set("tall", true);
      draft.binary = TRY(compile_kernel(cx, pool_source(x.dtype, *tall)));
      return draft;
    }
    const bool lines = !last && has_window_kernels(x.dtype, kind_of(op), op.window);
    draft.payload.set("blend", op.blend).set("vec", vec).set("lines", lines);
    draft.binary = TRY(compile_kernel(cx, pool_source(x.dtype, kind_of(op), vec, op.window, lines)));
    return draft;
  }

 private:
  static constexpr std::string_view kPieces = "pieces of rows";

  static FilterSpec window_of(const ops::Pooling& op) {
    const size_t axes = op.window.size();
    FilterSpec window;
    window.kernel = op.window;
    window.strides = or_all(op.strides, axes, 1);
    window.dilations = or_all(op.dilations, axes, 1);
    window.pads = or_all(op.pre_pads, axes, 0);
    window.same_upper = op.padding == ops::PaddingMode::kSameUpper;
    window.same_lower = op.padding == ops::PaddingMode::kSameLower;
    return window;
  }
  /// As the optimum has it.
  static std::optional<PoolPieces> pieces_of(const TacticContext& cx, const Region& region) {
    const auto& op = *cx.graph.node(region.nodes[0]).op.as<ops::Pooling>();
    const TensorType& x = cx.graph.type(region.inputs[0]);
    if (op.window.size() != 2) return std::nullopt;
    const FilterSpec window = window_of(op);
    const Extents in = x.opt_extents(), out = cx.graph.type(region.outputs[0]).opt_extents();
    return pool_pieces(x.dtype, kind_of(op), window.kernel, window.strides, window.dilations,
                       window.bind(in, out).pad[2], vector_width(in[3], bits_of(x.dtype) / 8));
  }
  static PoolKind kind_of(const ops::Pooling& op) { return static_cast<PoolKind>(op.kind); }
};

}  // namespace

template <>
TacticList tactics_of<ops::Pooling>() {
  static const PoolingTactic tactic;
  static const Tactic* const kList[] = {&tactic};
  return kList;
}

}  // namespace kiln::cuda
