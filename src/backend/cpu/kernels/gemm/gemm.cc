#include "backend/cpu/kernels/gemm/gemm.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/direct.h"
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

/// A part of one product's result.
struct Part {
  int64_t batch, row0, rows, col0, cols;
};

/// Runs `run` on the block of a part, which has all but B, and then the epilogue's hook.
template <class Run>
void run_part(const Part& part, const GemmShape& shape, const GemmA& a, const GemmC& c, const Epilogue& epilogue,
              Run run) {
  Block block{};
  block.rows = part.rows;
  block.cols = part.cols;
  const float* a0 = a.data + offset(a.batch, shape, part.batch) + part.row0 * a.ld;
  const float* rows[kBlockRows + kMostTileRows];
  for (int64_t r = 0; r < block.rows; ++r) rows[r] = a0 + r * a.ld;
  block.a = rows;
  block.k = shape.k;
  block.c = c.data + offset(c.batch, shape, part.batch) + part.row0 * c.ld + part.col0;
  block.ldc = c.ld;
  block.bias = epilogue.bias ? epilogue.bias + part.col0 : nullptr;
  if (epilogue.residual) {
    block.residual =
        epilogue.residual + offset(c.residual_batch, shape, part.batch) + part.row0 * epilogue.ldr + part.col0;
    block.ldr = epilogue.ldr;
  }
  block.lo = epilogue.lo;
  block.hi = epilogue.hi;
  run(block);
  if (const TileHook* hook = epilogue.hook)
    hook->apply(hook->self, block.c, block.rows, block.cols, c.ld, part.batch * shape.m + part.row0, part.col0);
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
  team.run(batches(shape) * split.parts(), [&](int64_t index, int) {
    const int64_t batch = index / split.parts(), at = index % split.parts();
    const int64_t row0 = split.row_of(at), col0 = split.col_of(at);
    const Part part{batch, row0, std::min(split.rows, shape.m - row0), col0, std::min(split.cols, shape.n - col0)};
    run_part(part, shape, a, c, epilogue, [&](Block& block) {
      const int64_t skipped = index_among(b.each, shape, batch) * panel_elements + col0 * shape.k;
      block.b = static_cast<const std::byte*>(b.data) + size_bytes(b.dtype, skipped);
      block.b_type = b.dtype;
      run_block(block);
    });
  });
}

/// Multiplies by B as it is. Parts are strips of columns of a product, or some small products; how many there are
/// changes no element's sum.
void multiply_directly(Team& team, const GemmShape& shape, const GemmA& a, const Matrix& b, BatchStride b_batch,
                       const GemmC& c, const Epilogue& epilogue) {
  // 128 KiB of B take some microseconds, ten times a fork.
  constexpr int64_t kElementsOfPart = 1 << 15, kLeastColumns = 32;  // rows are seldom aligned
  if (batches(shape) == 0 || shape.m == 0 || shape.n == 0) return;
  const int64_t elements = std::max<int64_t>(shape.k, 1) * shape.n;
  const int64_t wanted = std::clamp<int64_t>(elements / kElementsOfPart, 1, 2 * team.size());
  const int64_t cols = round_up(ceil_div(shape.n, wanted), kLeastColumns), strips = ceil_div(shape.n, cols);
  const int64_t tasks = batches(shape) * strips;
  const int64_t each = std::max<int64_t>(1, kElementsOfPart / std::max<int64_t>(1, elements / strips));
  team.run(ceil_div(tasks, each), [&](int64_t index, int) {
    for (int64_t task = index * each; task < std::min(tasks, (index + 1) * each); ++task) {
      const int64_t batch = task / strips, col0 = task % strips * cols;
      run_part({batch, 0, shape.m, col0, std::min(cols, shape.n - col0)}, shape, a, c, epilogue, [&](Block& block) {
        Matrix columns = b;
        columns.data += offset(b_batch, shape, batch) + col0 * b.n_stride;
        run_direct(block, columns);
      });
    }
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
  if (is_direct(shape.m, shape.k, shape.n, b))
    return multiply_directly(team, shape, contiguous_a(team, shape, a, packed), b, b_batch, c, epilogue);
  pack_all(team, shape, b, b_batch, packed);
  const GemmA rows = contiguous_a(team, shape, a, packed + packed_b_floats(shape, b_batch));
  multiply(team, shape, rows, {packed, distinct(shape, b_batch)}, c, epilogue);
}

int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const PackedB&) {
  return 4 * copied_a_floats(shape, a);
}
int64_t gemm_workspace_bytes(const GemmShape& shape, const GemmA& a, const Matrix& b, BatchStride b_batch) {
  const int64_t packed = is_direct(shape.m, shape.k, shape.n, b) ? 0 : packed_b_floats(shape, b_batch);
  return 4 * (packed + copied_a_floats(shape, a));
}

}  // namespace kiln::cpu
