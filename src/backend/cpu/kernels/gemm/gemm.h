/// Matrix products in FP32: C = epilogue(A * B) for every index of up to two batch axes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/gemm/epilogue.h"
#include "backend/cpu/kernels/gemm/pack.h"

namespace kiln::cpu {

/// Elements from one index to the next of the two batch axes; 0 repeats the operand.
struct BatchStride {
  ptrdiff_t outer = 0, inner = 0;
};

/// C[o, i, m, n] = epilogue(A[o, i, m, k] * B[o, i, k, n]). Any extent may be 0; k = 0 gives epilogue(0).
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  int64_t outer = 1, inner = 1;  ///< extents of the batch axes
};

/// A: element (r, i) is data[r * ld + i * k_stride]. With k_stride other than 1 it is copied to the workspace first.
struct GemmA {
  const float* data;
  ptrdiff_t ld;
  BatchStride batch;
  ptrdiff_t k_stride = 1;
};

/// C, and with `residual_batch` the epilogue's residual. C overlaps neither A nor B.
struct GemmC {
  float* data;
  ptrdiff_t ld;
  BatchStride batch;
  BatchStride residual_batch;
};

/// B packed beforehand: `b.batch` is 1 (shared by all) or outer * inner.
void gemm(Team& team, const GemmShape& shape, const GemmA& a, const PackedB& b, const GemmC& c,
          const Epilogue& epilogue, void* workspace);

/// B as it is, of any strides; it is packed into the workspace on the way, unless A has few rows (direct.h).
void gemm(Team& team, const GemmShape& shape, const GemmA& a, const Matrix& b, BatchStride b_batch, const GemmC& c,
          const Epilogue& epilogue, void* workspace);

/// Bytes of workspace, aligned to kCacheLine, that the call above needs; 0 (with a null workspace) is common.
int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const PackedB& b);
int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const Matrix& b, BatchStride b_batch);

}  // namespace kiln::cpu
