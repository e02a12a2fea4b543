// gemm/mma.cu: tensor cores of sm_80 and up; FP32 operands are rounded to TF32.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

std::string variant(const GemmKernel& k) {
  const std::string pieces =
      k.a_piece == 16 && k.b_piece == 16 ? "" : str(", pieces of ", std::min(k.a_piece, k.b_piece), " bytes");
  return str(k.types.a == DType::kF32 ? "tf32 " : "mma ", k.tile.name(), " in ", k.tile.stages, splits_text(k), pieces);
}
int64_t alignment(const GemmKernel& kernel) { return std::max({kernel.a_piece, kernel.b_piece, vector_bytes(kernel)}); }

/// The lines of an operand that its kernel reads along: so many of so many elements, `pitch` apart, which themselves
/// are `apart` from each other.
struct Lines {
  int64_t count, length, pitch, apart;

  /// Whether pieces of `bytes` are aligned, and wholly inside or outside of a line, or within its padding.
  bool are_in_pieces(int64_t bytes, int64_t element_bytes) const {
    const int64_t whole = bytes / element_bytes;
    return whole > 0 && bytes % element_bytes == 0 && (length <= 1 || apart == 1) &&
           (count <= 1 || pitch % whole == 0) && (length % whole == 0 || pitch >= ceil_div(length, whole) * whole);
  }
};

bool lies_in_pieces(const GemmKernel& kernel, const GemmArguments& g) {
  const int64_t size = bytes_of(kernel.types.a);
  const Lines a = kernel.a_k_major ? Lines{g.m, g.k, g.a_row, g.a_k} : Lines{g.k, g.m, g.a_k, g.a_row};
  const Lines b = kernel.b_k_major ? Lines{g.n, g.k, g.b_column, g.b_k} : Lines{g.k, g.n, g.b_k, g.b_column};
  if (!a.are_in_pieces(kernel.a_piece, size) || !b.are_in_pieces(kernel.b_piece, size)) return false;
  return std::ranges::all_of(std::span(g.batches.axis).first(static_cast<size_t>(g.batches.axes)),
                             [&](const BatchAxis& axis) {
                               return axis.a * size % kernel.a_piece == 0 && axis.b * size % kernel.b_piece == 0;
                             });
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  TRY(require_layout(arguments.n % kernel.vec == 0 && lies_in_pieces(kernel, arguments), kernel, arguments));
  GemmLaunch launch = TRY(plan_tiles(kernel, arguments, multiprocessors));
  launch.main.shared_bytes = mma_shared_bytes(kernel.tile, kernel.types.a);
  return launch;
}

}  // namespace

const GemmFamily kGemmMma{.name = "mma",
                          .entry = "gemm_mma",
                          .sums_parts = true,
                          .takes_bytes = true,
                          .takes_pairs = true,
                          .variant = variant,
                          .alignment = alignment,
                          .plan = plan};

}  // namespace kiln::cuda
