// gemm/simt.cu: plain FMA, any strides.
#include "backend/cuda/kernels/gemm/family.h"

namespace kiln::cuda {
namespace {

std::string variant(const GemmKernel& kernel) { return str("simt ", kernel.tile.name(), splits_text(kernel)); }
int64_t alignment(const GemmKernel& kernel) { return kernel.splits > 1 ? vector_bytes(kernel) : 1; }

void define_strides(const GemmKernel& kernel, KernelSource& source) {
  source.defines = kernel.tile.defines();
  define_types(kernel, source);
  define(source, "A_K_FAST", int{kernel.a_k_major});
  define(source, "B_K_FAST", int{kernel.b_k_major});
  define(source, "VEC", kernel.vec);
  define(source, "SPLIT", int{kernel.splits > 1});
}

Result<GemmLaunch> plan(const GemmKernel& kernel, GemmArguments& arguments, int64_t multiprocessors) {
  TRY(require_layout(arguments.n % kernel.vec == 0 || kernel.splits == 1, kernel, arguments));
  return plan_tiles(kernel, arguments, multiprocessors);
}

void search(GemmSearch& search) {
  GemmKernel kernel = search.kernel(kGemmSimt);
  for (const TileShape& tile : {TileShape{128, 128, 16, 0, 0, 8, 8, 0}, TileShape{64, 64, 16, 0, 0, 4, 4, 0},
                                TileShape{32, 64, 16, 0, 0, 4, 4, 0}}) {
    kernel.tile = tile;
    search.add_by_parts(kernel, 4, 200);
  }
}

}  // namespace

const GemmFamily kGemmSimt{.name = "simt",
                           .file = "gemm/simt.cu",
                           .entry = "gemm_simt",
                           .by_threads = true,
                           .sums_parts = true,
                           .variant = variant,
                           .define = define_strides,
                           .alignment = alignment,
                           .plan = plan,
                           .search = search};

}  // namespace kiln::cuda
