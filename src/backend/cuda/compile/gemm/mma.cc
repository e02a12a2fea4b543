// gemm/mma.cu: tensor cores of sm_80 and up; FP32 operands are rounded to TF32.
#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {
namespace {

void search(GemmSearch& search) {
  const GemmTraits& traits = search.traits;
  if (search.machine.compute < 80 || !search.takes_tensor_cores()) return;
  GemmKernel kernel = search.kernel(kGemmMma);
  if (traits.types.a == DType::kF8E4M3 && search.machine.compute < 89) return;
  const int64_t size = bytes_of(traits.types.a), of_word = 4 / size;  // elements
  kernel.a_piece = std::min<int64_t>(16, traits.a_align * size);
  kernel.b_piece = std::min<int64_t>(16, traits.b_align * size);
  const TileShape tiles[] = {
      {128, 128, 32 * of_word, 2, 4, 0, 0, 3}, {256, 128, 16 * of_word, 4, 2, 0, 0, 4},
      {128, 64, 32 * of_word, 4, 2, 0, 0, 4},  {64, 128, 32 * of_word, 2, 4, 0, 0, 4},
      {64, 64, 32 * of_word, 2, 2, 0, 0, 4},   {64, 32, 32 * of_word, 2, 2, 0, 0, 5},
      {32, 64, 32 * of_word, 2, 2, 0, 0, 5},   {16, 64, 32 * of_word, 1, 4, 0, 0, 6},
      {128, 32, 32 * of_word, 4, 1, 0, 0, 4},
  };
  for (const TileShape& tile : tiles) {
    // Lines along rows or columns are as long as the tile is wide, and read in 128-byte groups.
    if (!kernel.a_k_major && tile.bm * size < 64 * (size / 2)) continue;
    if (!kernel.b_k_major && tile.bn * size < 64 * (size / 2)) continue;
    if (mma_shared_bytes(tile, traits.types.a) > search.machine.shared_bytes) continue;
    kernel.tile = tile;
    search.add_by_parts(kernel, 2, size == 4 ? 900 : size == 2 ? 2200 : 4000);
  }
}

}  // namespace

const GemmSource kGemmMmaSource{.family = &kGemmMma, .file = "gemm/mma.cu", .search = search};

}  // namespace kiln::cuda
