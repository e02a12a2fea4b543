#include "backend/cuda/kernels/weight_only/weight_only.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kColumns = WeightPieces::kColumns;

/// Number `at` of integers of at most a byte, less the least that its type has.
unsigned number_at(DType type, std::span<const std::byte> data, int64_t at) {
  if (type == DType::kU8) return static_cast<uint8_t>(data[static_cast<size_t>(at)]);
  if (type == DType::kI8) return static_cast<uint8_t>(data[static_cast<size_t>(at)]) ^ 0x80u;
  const auto both = static_cast<uint8_t>(data[static_cast<size_t>(at / 2)]);
  return ((at % 2 ? both >> 4 : both) & 15u) ^ 8u;
}

/// Adds a number to the 16 bytes of its lane, which has zeros there: number u of part i.
void put_number(DType type, std::byte* lane, int64_t i, int64_t u, unsigned number) {
  if (bits_of(type) == 8) {
    lane[i * 4 + u] = static_cast<std::byte>(number);
    return;
  }
  const int64_t bit = i % 2 * 8 + u / 2 * 4 + u % 2 * 16;  // of a word
  lane[i / 2 * 4 + bit / 8] |= static_cast<std::byte>(number << (bit % 8));
}

Bytes pack_numbers(const WeightMatrix& m) {
  const int64_t step = m.types.step(), steps = ceil_div(m.k, step), groups = ceil_div(m.n, kColumns);
  Bytes packed(static_cast<size_t>(groups * steps * WeightPieces::kBytes));
  for (int64_t j = 0; j < m.n; ++j) {
    const int64_t in_group = j % kColumns, half = in_group / 8, g = in_group % 8;
    for (int64_t i = 0; i < m.k; ++i) {
      const int64_t in_step = i % step, t = in_step % 16 / 4;
      std::byte* const piece = packed.data() + (j / kColumns * steps + i / step) * WeightPieces::kBytes;
      put_number(m.types.weights, piece + half * (WeightPieces::kBytes / 2) + (g * 4 + t) * WeightPieces::kLaneBytes,
                 in_step / 16, in_step % 4, number_at(m.types.weights, m.data, i * m.k_stride + j * m.n_stride));
    }
  }
  return packed;
}

}  // namespace

WeightOnlyTypes WeightOnlyTypes::of(const StepTypes& types) {
  const auto input = [&](steps::WeightOperand which) -> const StepTensor& {
    return types.inputs[steps::input_of(which, types.inputs.size())];
  };
  const DType weights = types.inputs[1].dtype;
  return {types.inputs[0].dtype, types.outputs[0].dtype, input(steps::WeightOperand::kScale).dtype, weights,
          input(steps::WeightOperand::kZero).present || weights == DType::kU8};
}

Status WeightOnlyTypes::check() const {
  return require(is_kernel_float(a) && is_kernel_float(out) && is_kernel_float(scale) && steps::is_weight_type(weights),
                 "no kernel makes ", out, " of ", a, " and ", weights, " with scales of ", scale);
}

std::string WeightOnlyRows::name() const {
  return str("rows ", bm, "x", panels * kColumns, " of ", types.weights, " by ", warps, " warps in ", stages,
             splits > 1 ? str(", k in ", splits) : "");
}

int64_t WeightOnlyRows::own_shared_bytes() const {
  constexpr int64_t kPadding = 4;  // floats, of a warp's rows
  return 4 * bm * (warps * (kColumns + kPadding) + std::max<int64_t>(1, splits - 1) * panels * kColumns);
}

Status WeightOnlyRows::check() const {
  TRY(types.check());
  TRY(require((bm == 8 || bm == 16) && is_width(panels, 8) && is_within(warps, 16) && warps % panels == 0 &&
                  is_within(stages, 8) && is_width(splits, 8) && is_width(vec, 8),
              "no kernel multiplies ", bm, " rows by ", panels, " panels with ", warps, " warps, ", stages, " stages, ",
              splits, " splits and vectors of ", vec));
  TRY(require(own_shared_bytes() <= kMostOwnBytes, "the kernel '", name(), "' keeps ", own_shared_bytes(),
              " bytes of sums; ", kMostOwnBytes, " are the most"));
  return require(fold >= 16 && fold % 16 == 0 && types.step() % fold == 0, "no kernel folds ", fold,
                 " weights of a step of ", types.step());
}

int64_t fold_of(const WeightOnlyTypes& types, int64_t k, int64_t block) {
  const int64_t step = types.step();
  if (block == k || block % step == 0) return step;
  return block % 16 == 0 && step % block == 0 ? block : 0;
}

PackedWeights pack_weights(const WeightMatrix& m) {
  const int64_t blocks = m.k / m.layout.block, groups = ceil_div(m.n, kColumns), size = bytes_of(m.types.scale);
  PackedWeights packed{pack_numbers(m), Bytes(static_cast<size_t>(groups * blocks * kColumns * size)), {}};
  if (m.types.has_zeros) packed.zeros.resize(static_cast<size_t>(groups * blocks * kColumns));
  for (int64_t j = 0; j < m.n; ++j)
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t from = b * m.layout.k_stride + j * m.layout.n_stride,
                    to = (j / kColumns * blocks + b) * kColumns + j % kColumns;
      std::memcpy(packed.scales.data() + to * size, m.scales.data() + from * size, static_cast<size_t>(size));
      if (!m.types.has_zeros) continue;
      const unsigned zero = m.zeros.empty() ? 0 : number_at(m.types.weights, m.zeros, from);
      packed.zeros[static_cast<size_t>(to)] = static_cast<std::byte>(zero);
    }
  return packed;
}

int64_t rows_shared_bytes(const WeightOnlyRows& kernel, int64_t k) {
  const int64_t size = bytes_of(kernel.types.a), step = kernel.types.step();
  const int64_t width = ceil_div(ceil_div(k, step), kernel.splits) * step;
  return kernel.bm * (width * size + 32);
}

Result<LaunchShape> plan_rows(const WeightOnlyRows& kernel, const WeightOnlyArguments& g, int64_t most_shared_bytes) {
  const int64_t chunk = 16 / bytes_of(kernel.types.a), columns = kernel.panels * kColumns;
  TRY(require(g.k % chunk == 0 && g.a_row % chunk == 0 && g.n % kernel.vec == 0 &&
                  fold_of(kernel.types, g.k, g.block) % kernel.fold == 0 &&
                  fold_of(kernel.types, g.k, g.block) >= kernel.fold,
              "a product of ", g.m, " x ", g.n, " x ", g.k, " by weights in blocks of ", g.block,
              " is not what the kernel '", kernel.name(), "' reads"));
  const int64_t shared = rows_shared_bytes(kernel, g.k);
  TRY(require(shared + kernel.own_shared_bytes() <= most_shared_bytes, "rows of ", g.k,
              " elements exceed the shared memory of the kernel '", kernel.name(), "'"));
  LaunchShape shape;
  shape.grid[0] = grid_blocks(ceil_div(g.m, kernel.bm) * ceil_div(g.n, columns) * kernel.splits);
  shape.block[0] = static_cast<uint32_t>(kernel.warps * 32);
  shape.cluster = static_cast<uint32_t>(kernel.splits);
  shape.shared_bytes = static_cast<uint32_t>(shared);
  shape.pdl = true;
  return shape;
}

Result<LaunchShape> plan_expand(const WeightOnlyTypes& types, const WeightOnlyArguments& g) {
  const int64_t pieces = ceil_div(g.n, kColumns) * ceil_div(g.k, types.step());
  constexpr uint32_t kBlock = 256;
  return flat_shape(pieces * 64, kBlock);
}

}  // namespace kiln::cuda
