// gemm/simt.cu: plain FMA, any strides.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

std::string variant(const GemmKernel& kernel) { return str("simt ", kernel.tile.name(), splits_text(kernel)); }
int64_t alignment(const GemmKernel& kernel) { return kernel.splits > 1 ? vector_bytes(kernel) : 1; }

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  TRY(require_layout(arguments.n % kernel.vec == 0 || kernel.splits == 1, kernel, arguments));
  return plan_tiles(kernel, arguments, multiprocessors);
}

}  // namespace

const GemmFamily kGemmSimt{.name = "simt",
                           .entry = "gemm_simt",
                           .by_threads = true,
                           .sums_parts = true,
                           .variant = variant,
                           .alignment = alignment,
                           .plan = plan};

}  // namespace kiln::cuda
