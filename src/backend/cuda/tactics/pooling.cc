/// Maximum and average pooling: kernels/pool.
#include "tactics/pooling.h"

#include "backend/cuda/compile/lanes/tile.h"
#include "backend/cuda/compile/pool/pool.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"
#include "ops/quantization.h"
#include "tactics/region.h"

namespace kiln::cuda {
namespace {

PoolKind kind_of(const steps::Pooling& step) { return static_cast<PoolKind>(step.kind); }

class PoolingTactic final : public PoolingRegions {
 public:
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> result = PoolingRegions::variants(cx, region);
    if (pieces_of(cx, region)) result.push_back(linear_variant(region, std::string(kPieces)));
    return result;
  }
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    const steps::Pooling step = step_of(cx, region);
    const TensorType& x = cx.graph.type(region.inputs[0]);
    const PoolKind kind = kind_of(step);
    if (variant.name == kPieces) {
      const auto pieces = pieces_of(cx, region);
      CHECK(pieces);
      return draft_of(cx, step, {.pieces = PoolPiecesTuning{pieces->left, pieces->vec}},
                      pool_source(x.dtype, kind, *pieces));
    }
    const steps::Window& window = step.window;
    const bool last = !variant.inputs[0].is_linear();
    const int64_t channels = x.opt_extents()[1];
    const bool windows = has_window_kernels(x.dtype, kind, window.kernel);
    int vec = last ? vector_width(channels, bits_of(x.dtype) / 8) : 1;
    if (last && windows && is_byte(x.dtype) && channels % 16 == 0) vec = 16;
    const TensorType& y = cx.graph.type(region.outputs[0]);
    if (const auto tall = pool_tall(x.dtype, kind, window.kernel, window.strides, window.dilations);
        last && tall && vec * bits_of(x.dtype) == 128 &&
        is_large_tall(x.dtype, y.opt_extents(), device_of(cx).properties().num_multiprocessors))
      return draft_of(cx, step, {.vec = vec, .tall = true}, pool_source(x.dtype, *tall));
    const bool lines = !last && windows && is_kernel_float(x.dtype);
    return draft_of(cx, step, {.vec = vec, .lines = lines}, pool_source(x.dtype, kind, vec, window.kernel, lines));
  }

 private:
  static constexpr std::string_view kPieces = "pieces of rows";

  std::string why_not(ops::PoolingKind kind, DType type) const override {
    if (can_pool(static_cast<PoolKind>(kind), type)) return "";
    return str(kind, " pooling has kernels for f32, f16 and bf16, its maximum for i8, u8 and i32");
  }
  static Result<StepDraft> draft_of(const TacticContext& cx, const steps::Pooling& step, const PoolTuning& tuning,
                                    const KernelSource& source) {
    StepDraft draft = cuda_step(step, tuning);
    draft.binary = TRY(compile_kernel(cx, source));
    return draft;
  }
  /// The kernel that reads rows in pieces, at the optimum extents; nothing if it does not serve.
  static std::optional<PoolPieces> pieces_of(const TacticContext& cx, const Region& region) {
    const steps::Pooling step = step_of(cx, region);
    const steps::Window& window = step.window;
    const TensorType& x = cx.graph.type(region.inputs[0]);
    if (window.kernel.size() != 2) return std::nullopt;
    const Extents in = x.opt_extents(), out = cx.graph.type(region.outputs[0]).opt_extents();
    return pool_pieces(x.dtype, kind_of(step), window.kernel, window.strides, window.dilations,
                       window.bind<ConvWindow>(in, out).pad[2], vector_width(in[3], bits_of(x.dtype) / 8));
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Pooling>() {
  return list_of<PoolingTactic>();
}

}  // namespace kiln::cuda
