#include "backend/cpu/kernels/gemm/half.h"

#include <bit>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/gemm/half.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/gemm/block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

void run_f16(const Block& block) { run<hwy::float16_t>(block); }
void run_bf16(const Block& block) { run<hwy::bfloat16_t>(block); }

void to_f16(const float* in, int64_t count, void* out) {
  const hn::Rebind<hwy::float16_t, D> half;
  auto* to = static_cast<hwy::float16_t*>(out);
  for (int64_t i = 0; i < count; i += kLanes) hn::StoreU(hn::DemoteTo(half, hn::LoadU(D(), in + i)), half, to + i);
}

/// Rounds to nearest, ties to even; a NaN stays one.
void to_bf16(const float* in, int64_t count, void* out) {
  auto* to = static_cast<uint16_t*>(out);
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(in[i]);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    to[i] = static_cast<uint16_t>(in[i] != in[i] ? (bits >> 16) | 0x40 : rounded);
  }
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void run_half_block(const Block& block) {
  block.b_type == DType::kF16 ? KILN_DISPATCH(run_f16)(block) : KILN_DISPATCH(run_bf16)(block);
}

void narrow(const float* in, int64_t count, DType to, void* out) {
  to == DType::kF16 ? KILN_DISPATCH(to_f16)(in, count, out) : KILN_DISPATCH(to_bf16)(in, count, out);
}

}  // namespace kiln::cpu
#endif
