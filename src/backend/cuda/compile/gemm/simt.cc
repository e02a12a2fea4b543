// gemm/simt.cu: plain FMA, any strides.
#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {
namespace {

void search(GemmSearch& search) {
  GemmKernel kernel = search.kernel(kGemmSimt);
  for (const TileShape& tile : {TileShape{128, 128, 16, 0, 0, 8, 8, 0}, TileShape{64, 64, 16, 0, 0, 4, 4, 0},
                                TileShape{32, 64, 16, 0, 0, 4, 4, 0}}) {
    kernel.tile = tile;
    search.add_by_parts(kernel, 4, 200);
  }
}

}  // namespace

const GemmSource kGemmSimtSource{.family = &kGemmSimt, .file = "gemm/simt.cu", .search = search};

}  // namespace kiln::cuda
