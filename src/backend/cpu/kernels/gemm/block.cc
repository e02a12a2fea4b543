#include "backend/cpu/kernels/gemm/block.h"

#include "backend/cpu/kernels/gemm/half.h"

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/gemm/block.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/gemm/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

Tiling tile_shape() { return {kTileRows, kPanel}; }
void run_floats(const Block& block) { run<float>(block); }

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

Tiling tiling() { return KILN_DISPATCH(tile_shape)(); }

void run_block(const Block& block) {
  if (block.rows <= 0 || block.cols <= 0) return;
  block.b_type == DType::kF32 ? KILN_DISPATCH(run_floats)(block) : run_half_block(block);
}

}  // namespace kiln::cpu
#endif
