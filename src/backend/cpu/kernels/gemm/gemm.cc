#include "backend/cpu/kernels/gemm/gemm.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/split.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kMostTileRows = 16;

ptrdiff_t offset(const BatchStride& stride, const GemmShape& shape, int64_t batch) {
  return batch / shape.inner * stride.outer + batch % shape.inner * stride.inner;
}
/// Different matrices among the batches of an operand: an axis of stride 0 (or of one index) repeats them.
GemmShape distinct(const GemmShape& shape, const BatchStride& stride) {
  GemmShape result = shape;
  if (stride.outer == 0) result.outer = 1;
  if (stride.inner == 0) result.inner = 1;
  return result;
}
/// The index among `distinct` matrices of a batch of `shape`.
int64_t index_among(const GemmShape& distinct, const GemmShape& shape, int64_t batch) {
  const int64_t outer = distinct.outer == 1 ? 0 : batch / shape.inner;
  const int64_t inner = distinct.inner == 1 ? 0 : batch % shape.inner;
  return outer * distinct.inner + inner;
}
int64_t batches(const GemmShape& shape) { return shape.outer * shape.inner; }

int64_t copied_a_floats(const GemmShape& shape, const GemmA& a) {
  if (a.k_stride == 1 || shape.k <= 1) return 0;
  return round_up(batches(distinct(shape, a.batch)) * shape.m * shape.k, kCacheLine / 4);
}
int64_t packed_b_floats(const GemmShape& shape, BatchStride b_batch) {
  return batches(distinct(shape, b_batch)) * packed_size(1, shape.k, shape.n);
}

/// A with rows contiguous in `to`: a plain transposition in squares that stay in cache.
GemmA copy_a(Team& team, const GemmShape& shape, const GemmA& a, float* to) {
  constexpr int64_t kSquare = 32;
  const GemmShape each = distinct(shape, a.batch);
  const int64_t strips = ceil_div(shape.m, kSquare);
  team.run(batches(each) * strips, [&](int64_t part, int) {
    const int64_t batch = part / strips, row0 = part % strips * kSquare;
    const int64_t row1 = std::min(shape.m, row0 + kSquare);
    const float* from = a.data + offset(a.batch, each, batch);
    float* out = to + batch * shape.m * shape.k;
    for (int64_t i0 = 0; i0 < shape.k; i0 += kSquare)
      for (int64_t r = row0; r < row1; ++r)
        for (int64_t i = i0; i < std::min(shape.k, i0 + kSquare); ++i)
          out[r * shape.k + i] = from[r * a.ld + i * a.k_stride];
  });
  const ptrdiff_t size = shape.m * shape.k;
  return {to, shape.k, {each.outer == 1 ? 0 : size * each.inner, each.inner == 1 ? 0 : size}};
}

void pack_all(Team& team, const GemmShape& shape, const Matrix& b, BatchStride b_batch, float* packed) {
  const GemmShape each = distinct(shape, b_batch);
  const int64_t panels = ceil_div(shape.n, tiling().panel), size = packed_size(1, shape.k, shape.n);
  team.run(batches(each) * panels, [&](int64_t part, int) {
    const int64_t batch = part / panels, panel = part % panels;
    Matrix one = b;
    one.data += offset(b_batch, each, batch);
    pack_panels(one, 1, shape.k, shape.n, panel, panel + 1, packed + batch * size);
  });
}

/// Packed B, found by a batch's index.
struct Panels {
  const void* data;
  GemmShape each;
  DType dtype = DType::kF32;
};

void multiply(Team& team, const GemmShape& shape, const GemmA& a, const Panels& b, const GemmC& c,
              const Epilogue& epilogue) {
  const Split split = split_result(shape.m, shape.n, shape.k, batches(shape));
  if (split.parts() == 0) return;
  const int64_t panel_elements = packed_size(1, shape.k, shape.n);
  team.run(batches(shape) * split.parts(), [&](int64_t part, int) {
    const int64_t batch = part / split.parts(), at = part % split.parts();
    const int64_t row0 = split.row_of(at), col0 = split.col_of(at);
    Block block{};
    block.rows = std::min(split.rows, shape.m - row0);
    block.cols = std::min(split.cols, shape.n - col0);
    const float* a0 = a.data + offset(a.batch, shape, batch) + row0 * a.ld;
    const float* rows[kBlockRows + kMostTileRows];
    for (int64_t r = 0; r < block.rows; ++r) rows[r] = a0 + r * a.ld;
    block.a = rows;
    block.k = shape.k;
    const int64_t skipped = index_among(b.each, shape, batch) * panel_elements + col0 * shape.k;
    block.b = static_cast<const std::byte*>(b.data) + size_bytes(b.dtype, skipped);
    block.b_type = b.dtype;
    block.c = c.data + offset(c.batch, shape, batch) + row0 * c.ld + col0;
    block.ldc = c.ld;
    block.bias = epilogue.bias ? epilogue.bias + col0 : nullptr;
    if (epilogue.residual) {
      block.residual = epilogue.residual + offset(c.residual_batch, shape, batch) + row0 * epilogue.ldr + col0;
      block.ldr = epilogue.ldr;
    }
    block.lo = epilogue.lo;
    block.hi = epilogue.hi;
    run_block(block);
    if (const TileHook* hook = epilogue.hook)
      hook->apply(hook->self, block.c, block.rows, block.cols, c.ld, batch * shape.m + row0, col0);
  });
}

GemmA contiguous_a(Team& team, const GemmShape& shape, const GemmA& a, float* workspace) {
  return copied_a_floats(shape, a) ? copy_a(team, shape, a, workspace) : a;
}

}  // namespace

void gemm(Team& team, const GemmShape& shape, const GemmA& a, const PackedB& b, const GemmC& c,
          const Epilogue& epilogue, void* workspace) {
  CHECK(b.panel == tiling().panel && b.k == shape.k && b.n == shape.n && b.taps == 1);
  CHECK(b.batch == 1 || b.batch == batches(shape));
  GemmShape each = shape;
  if (b.batch == 1) each.outer = each.inner = 1;
  multiply(team, shape, contiguous_a(team, shape, a, static_cast<float*>(workspace)), {b.data.data(), each, b.dtype}, c,
           epilogue);
}

void gemm(Team& team, const GemmShape& shape, const GemmA& a, const Matrix& b, BatchStride b_batch, const GemmC& c,
          const Epilogue& epilogue, void* workspace) {
  auto* packed = static_cast<float*>(workspace);
  pack_all(team, shape, b, b_batch, packed);
  const GemmA rows = contiguous_a(team, shape, a, packed + packed_b_floats(shape, b_batch));
  multiply(team, shape, rows, {packed, distinct(shape, b_batch)}, c, epilogue);
}

int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const PackedB&) {
  return 4 * copied_a_floats(shape, a);
}
int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const Matrix&, BatchStride b_batch) {
  return 4 * (packed_b_floats(shape, b_batch) + copied_a_floats(shape, a));
}

}  // namespace kiln::cpu
