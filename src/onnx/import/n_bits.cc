/// MatMulNBits of com.microsoft: a product by a matrix of 2, 4 or 8 bits a number, in blocks along k.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "onnx/import/four_bits.h"
#include "onnx/import/importers.h"
#include "ops/gather.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln::onnx::importers::microsoft {
namespace {

enum Input : size_t { kA, kB, kScales, kZeroPoints, kGroups, kBias };

/// The places of the matrix: `n` columns of `k` numbers in blocks.
struct Blocks {
  int64_t n, k, size, bits;
  int64_t per_column() const { return (k + size - 1) / size; }
  int64_t block_bytes() const { return size * bits / 8; }
  int64_t zero_bytes() const { return (per_column() * bits + 7) / 8; }  ///< of a column's packed zero points
  int64_t middle() const { return int64_t{1} << (bits - 1); }           ///< the zero point where none is given
};

/// Number `i` of a row of packed ones, the first in the low bits.
int64_t packed_number(std::span<const std::byte> row, int64_t i, int64_t bits) {
  const int64_t in_byte = 8 / bits;
  const auto byte = static_cast<uint8_t>(row[static_cast<size_t>(i / in_byte)]);
  return (byte >> (i % in_byte * bits)) & ((1 << bits) - 1);
}

/// The node's constants, checked.
struct Weights {
  Blocks blocks;
  HostTensor b, scales;
  std::optional<HostTensor> zeros;
  std::vector<int64_t> groups;  ///< of each number along k; empty: blocks in their order

  bool has_packed_zeros() const { return zeros && zeros->dtype() == DType::kU8; }
  std::span<const std::byte> block(int64_t at) const {
    return b.bytes().subspan(static_cast<size_t>(at * blocks.block_bytes()), static_cast<size_t>(blocks.block_bytes()));
  }
  int64_t number(int64_t column, int64_t i) const {
    return packed_number(block(column * blocks.per_column() + i / blocks.size), i % blocks.size, blocks.bits);
  }
  int64_t group_of(int64_t i) const { return groups.empty() ? i / blocks.size : groups[static_cast<size_t>(i)]; }
  double scale(int64_t column, int64_t group) const { return View(scales)[column * blocks.per_column() + group]; }
  double zero(int64_t column, int64_t group) const {
    if (!zeros) return static_cast<double>(blocks.middle());
    if (!has_packed_zeros()) return View(*zeros)[column * blocks.per_column() + group];
    const auto row = zeros->bytes().subspan(static_cast<size_t>(column * blocks.zero_bytes()));
    return static_cast<double>(packed_number(row, group, blocks.bits));
  }
};

Result<Blocks> blocks_of(ImportContext& cx) {
  const Blocks blocks{TRY(cx.node().need_int("N")), TRY(cx.node().need_int("K")), TRY(cx.node().need_int("block_size")),
                      TRY(cx.node().get_int("bits", 4))};
  TRY(require(TRY(cx.node().get_int("weight_prepacked", 0)) == 0,
              "weight_prepacked is not in Kiln: only ONNX Runtime knows how it packed them; export without it"));
  cx.node().pass_over("accuracy_level");  // the least exact arithmetic that is allowed
  TRY(require(blocks.bits == 2 || blocks.bits == 4 || blocks.bits == 8, "bits is ", blocks.bits,
              "; 2, 4 and 8 are possible"));
  constexpr int64_t kMost = int64_t{1} << 31;
  TRY(require(blocks.n > 0 && blocks.k > 0 && blocks.n < kMost && blocks.k < kMost && blocks.size >= 16 &&
                  blocks.size < kMost && blocks.size % 16 == 0,
              "N is ", blocks.n, ", K ", blocks.k, " and block_size ", blocks.size));
  return blocks;
}

Result<std::vector<int64_t>> groups_of(ImportContext& cx, const Blocks& blocks) {
  const std::vector<int64_t> groups = TRY(cx.ints(TRY(cx.input(kGroups)), "g_idx"));
  TRY(require(static_cast<int64_t>(groups.size()) >= blocks.k, "g_idx has ", groups.size(), " elements; ", blocks.k,
              " are needed"));
  for (int64_t i = 0; i < blocks.k; ++i) {
    const int64_t group = groups[static_cast<size_t>(i)];
    TRY(require(group >= 0 && group < blocks.per_column(), "element ", i, " of g_idx is ", group, "; there are ",
                blocks.per_column(), " blocks"));
  }
  return std::vector(groups.begin(), groups.begin() + blocks.k);
}

Result<Weights> weights_of(ImportContext& cx) {
  const Blocks blocks = TRY(blocks_of(cx));
  Weights w{
      blocks, TRY(cx.constant(TRY(cx.input(kB)), "B")), TRY(cx.constant(TRY(cx.input(kScales)), "scales")), {}, {}};
  const int64_t all = blocks.n * blocks.per_column();
  TRY(require(w.b.dtype() == DType::kU8 && w.b.volume() == all * blocks.block_bytes(), "B is ", w.b.dtype(), " ",
              w.b.extents(), "; ", all * blocks.block_bytes(), " bytes are needed"));
  TRY(require(is_kernel_float(w.scales.dtype()) && w.scales.volume() == all, "scales are ", w.scales.dtype(), " ",
              w.scales.extents(), "; ", all, " floats are needed"));
  for (int64_t i = 0; i < all; ++i)
    TRY(require(std::isfinite(View(w.scales)[i]), "scale ", i, " of ", all, " is ", View(w.scales)[i],
                "; scales are finite"));
  if (cx.has_input(kZeroPoints)) {
    w.zeros = TRY(cx.constant(TRY(cx.input(kZeroPoints)), "zero_points"));
    const int64_t needed = w.has_packed_zeros() ? blocks.n * blocks.zero_bytes() : all;
    TRY(require(w.zeros->volume() == needed, "zero_points are ", w.zeros->dtype(), " ", w.zeros->extents(), "; ",
                needed, " elements are needed"));
  }
  if (cx.has_input(kGroups)) w.groups = TRY(groups_of(cx, blocks));
  return w;
}

/// The order of k in which each block's numbers lie together; nothing where blocks have not equally many.
std::optional<std::vector<int64_t>> order_by_group(const Weights& w) {
  std::vector<int64_t> order(static_cast<size_t>(w.blocks.k));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return w.group_of(i); });
  for (size_t i = 0; i < order.size(); ++i)
    if (w.group_of(order[i]) != static_cast<int64_t>(i) / w.blocks.size) return std::nullopt;
  return order;
}

/// Weights as Dequantize has them: INT4 or INT8, columns of k, scales that are positive.
struct Quantized {
  HostTensor q, scales, zeros;
  bool has_zeros = false;
};

/// How the numbers of a block are kept.
struct KeptNumbers {
  bool negated, is_zero;
  int64_t zero;
};
/// Writes a block's numbers to `q`, [column][k], less the middle: that is another bit of each.
void keep_block(const Weights& w, std::span<const int64_t> order, int64_t column, int64_t group,
                const KeptNumbers& kept, std::byte* q) {
  const Blocks& blocks = w.blocks;
  if (!kept.is_zero && w.groups.empty()) {
    const std::byte middle{static_cast<uint8_t>(blocks.bits == 4 ? 0x88 : 0x80)};
    const std::byte mask = kept.negated ? ~middle : middle;
    const int64_t at = column * blocks.per_column() + group;
    std::ranges::transform(w.block(at), q + at * blocks.block_bytes(),
                           [&](std::byte numbers) { return numbers ^ mask; });
    return;
  }
  const DType type = blocks.bits == 4 ? DType::kI4 : DType::kI8;
  for (int64_t i = group * blocks.size; i < (group + 1) * blocks.size; ++i) {
    const int64_t number = w.number(column, order[static_cast<size_t>(i)]);
    const int64_t moved = kept.is_zero ? kept.zero : kept.negated ? 2 * blocks.middle() - 1 - number : number;
    store_number(type, q, column * blocks.k + i, static_cast<double>(moved - blocks.middle()));
  }
}

/// Moves the numbers of each block to integers with a sign. ONNX Runtime's tools write scales that are negative, and
/// scales of 0 for blocks of zeros: with each number and zero point less its greatest, the first are positive; the
/// second are 1, with all numbers at the zero point.
Result<Quantized> quantized(const Weights& w, std::span<const int64_t> order, int rank) {
  const Blocks& blocks = w.blocks;
  const DType type = blocks.bits == 4 ? DType::kI4 : DType::kI8;
  const int64_t most = 2 * blocks.middle() - 1, per_column = blocks.per_column();
  const auto batched = [&](int64_t columns, int64_t numbers) {
    Extents extents(static_cast<size_t>(rank), 1);
    extents[extents.size() - 2] = columns, extents.back() = numbers;
    return extents;
  };
  HostTensor::Fresh q = TRY(HostTensor::make(type, batched(blocks.n, blocks.k)));
  HostTensor::Fresh scales = TRY(HostTensor::make(w.scales.dtype(), batched(blocks.n, per_column)));
  HostTensor::Fresh zeros = TRY(HostTensor::make(type, batched(blocks.n, per_column)));
  bool has_zeros = false;
  for (int64_t column = 0; column < blocks.n; ++column)
    for (int64_t group = 0; group < per_column; ++group) {
      const double scale = w.scale(column, group);
      const auto given = static_cast<int64_t>(w.zero(column, group));
      const int64_t zero = scale < 0 ? most - given : given;
      has_zeros |= zero != blocks.middle();
      const int64_t at = column * per_column + group;
      store_number(w.scales.dtype(), scales.data.data(), at, scale == 0 ? 1 : std::fabs(scale));
      store_number(type, zeros.data.data(), at, static_cast<double>(zero - blocks.middle()));
      const KeptNumbers kept{.negated = scale < 0, .is_zero = scale == 0, .zero = zero};
      keep_block(w, order, column, group, kept, q.data.data());
    }
  return Quantized{std::move(q.tensor), std::move(scales.tensor), std::move(zeros.tensor), has_zeros};
}

/// The matrix in floats: of numbers that Dequantize has not.
Result<HostTensor> unpacked(const Weights& w) {
  const Blocks& blocks = w.blocks;
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, {blocks.n, blocks.k}));
  for (int64_t column = 0; column < blocks.n; ++column)
    for (int64_t i = 0; i < blocks.k; ++i) {
      const int64_t group = w.group_of(i);
      const double number = static_cast<double>(w.number(column, i)) - w.zero(column, group);
      store_number(DType::kF32, fresh.data.data(), column * blocks.k + i, number * w.scale(column, group));
    }
  return std::move(fresh.tensor);
}

/// a with its last axis in another order; a itself where that is its own.
Result<ValueId> ordered(ImportContext& cx, ValueId a, const std::vector<int64_t>& order) {
  if (std::ranges::is_sorted(order)) return a;
  const Extents extents{static_cast<int64_t>(order.size())};
  const ValueId indices = cx.add_constant(HostTensor::of_ints(DType::kI64, extents, order));
  return cx.add(ops::Gather{.axis = cx.rank(a) - 1}, {a, indices});
}

/// Whether Dequantize has such numbers and blocks.
bool stays_quantized(const Weights& w) {
  const Blocks& blocks = w.blocks;
  return blocks.bits >= 4 && blocks.k % blocks.size == 0 && (!w.zeros || w.has_packed_zeros());
}

Result<ValueId> product(ImportContext& cx, const Weights& w) {
  const ValueId a = TRY(cx.input(kA));
  const auto order = order_by_group(w);
  if (!stays_quantized(w) || !order || cx.rank(a) < 2) {
    const ValueId b = TRY(cast(cx, cx.add_constant(TRY(unpacked(w))), cx.dtype(a)));
    return matrix_multiply(cx, a, TRY(transpose(cx, b, {1, 0})));
  }
  Quantized weights = TRY(quantized(w, *order, cx.rank(a)));
  Quantization by{cx.add_constant(std::move(weights.scales)), ValueId::kNone, -1, {}};
  if (weights.has_zeros) by.zero = cx.add_constant(std::move(weights.zeros));
  const ValueId b = TRY(dequantize(cx, cx.add_constant(std::move(weights.q)), by, cx.dtype(a)));
  return cx.add(ops::MatrixMultiply{.b = ops::MatrixOp::kTranspose}, {TRY(ordered(cx, a, *order)), b});
}

}  // namespace

Status mat_mul_n_bits(ImportContext& cx) {
  const ValueId y = TRY(product(cx, TRY(weights_of(cx))));
  return cx.output(cx.has_input(kBias) ? TRY(binary(cx, ElementWiseKind::kSum, y, TRY(cx.input(kBias)))) : y);
}

}  // namespace kiln::onnx::importers::microsoft
