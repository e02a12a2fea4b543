#include "backend/cpu/kernels/conv/banded.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/kernels/conv/pointers.h"
#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/split.h"

namespace kiln::cpu {
namespace {

int64_t stretch(const ConvWeights& weights, int64_t stride, int64_t pixels) {
  return (pixels - 1) * stride + weights.kernel[2];
}
int64_t kernel_rows(const ConvWeights& weights) { return weights.kernel[0] * weights.kernel[1]; }

/// The wider window that one row of the product reads: it makes `pixels` neighbouring outputs.
Window window_of_rows(Window w, int64_t pixels) {
  w.kernel[2] = (pixels - 1) * w.stride[2] + w.kernel[2];
  w.stride[2] *= pixels;
  w.out[2] = ceil_div(w.out[2], pixels);
  return w;
}

/// The pieces of a worker's workspace: pointers, windows over edges, and sums until they go to their places.
struct Plan {
  int64_t pixels, cols, num_taps, depth;
  Window window;  // of the product's rows
  int64_t rows;
  int64_t pointer_bytes, border_bytes, sum_bytes;

  Plan(const ConvShape& shape, const ConvWeights& weights)
      : pixels(banded_pixels(weights, shape.window.stride[2])),
        cols(pixels * weights.oc),
        num_taps(kernel_rows(weights)),
        depth(stretch(weights, shape.window.stride[2], pixels) * weights.ic),
        window(window_of_rows(shape.window, pixels)),
        rows(shape.n * window.out_pixels()) {
    const int64_t most_rows = std::max(kBlockRows, pixels) + tiling().rows;
    pointer_bytes = round_up(most_rows * num_taps * static_cast<int64_t>(sizeof(float*)), kCacheLine);
    border_bytes = round_up(most_rows * num_taps * depth * 4, kCacheLine);
    sum_bytes = round_up(kBlockRows * cols * 4, kCacheLine);
  }
  int64_t worker_bytes() const { return pointer_bytes + border_bytes + sum_bytes; }
};

/// One call, and a worker's memory in it.
struct Run {
  const ConvShape& shape;
  const PackedBanded& packed;
  const Plan& plan;
  const float* in;
  float* out;
  const Epilogue& epilogue;

  struct Memory {
    const float** table;
    float* border;
    float* sums;
  };

  /// Block::a for rows of a window, and what else the two products have in common.
  Block block_of(const Window& window, int64_t row0, int64_t rows, const Memory& memory) const {
    const PointerSource source{window, in, packed.weights.ic, packed.zeros.data(), Taps::kRows};
    fill_pointers(source, row0, rows, tiling().rows, memory.table, memory.border);
    Block block{};
    block.a = memory.table;
    block.rows = rows;
    block.taps = plan.num_taps;
    block.k = source.row_elements();
    block.lo = epilogue.lo;
    block.hi = epilogue.hi;
    return block;
  }

  /// Pixels [pixel0, pixel0 + count) of the output, each for itself.
  void exact_pixels(int64_t pixel0, int64_t count, const Memory& memory) const {
    Block block = block_of(shape.window, pixel0, count, memory);
    block.cols = packed.weights.oc;
    block.b = packed.exact.data.data();
    block.c = out + pixel0 * packed.weights.oc;
    block.ldc = packed.weights.oc;
    block.bias = epilogue.bias;
    run_block(block);
  }

  void rows(int64_t row0, int64_t count, const float* bias, const Memory& memory) const {
    Block block = block_of(plan.window, row0, count, memory);
    block.cols = plan.cols;
    block.b = packed.band.data.data();
    block.c = memory.sums;
    block.ldc = plan.cols;
    block.bias = bias;
    run_block(block);
    const int64_t oc = packed.weights.oc, width = shape.window.out[2], across = plan.window.out[2];
    for (int64_t row = row0; row < row0 + count; ++row) {
      const float* sums = memory.sums + (row - row0) * plan.cols;
      const int64_t x = row % across * plan.pixels, pixel = row / across * width + x;
      const int64_t pixels = std::min(plan.pixels, width - x);
      bool clean = true;
      for (int64_t i = 0; i < pixels * oc; ++i) clean &= !std::isnan(sums[i]);
      if (clean)
        std::copy_n(sums, pixels * oc, out + pixel * oc);
      else
        exact_pixels(pixel, pixels, memory);
    }
  }

  /// Calls the hook on the pixels of `count` rows, in the order in which they stand in the result.
  void hook(int64_t row0, int64_t count) const {
    const int64_t width = shape.window.out[2], across = plan.window.out[2];
    const auto pixel_before = [&](int64_t row) { return row / across * width + row % across * plan.pixels; };
    const int64_t first = pixel_before(row0), last = pixel_before(row0 + count), oc = packed.weights.oc;
    epilogue.hook->apply(epilogue.hook->self, out + first * oc, last - first, oc, oc, first, 0);
  }
};

}  // namespace

int64_t banded_pixels(const ConvWeights& weights, int64_t stride) {
  constexpr double kWorthIt = 0.85;  // of the vectors multiplied
  const int64_t lanes = tiling().panel / 2;
  const auto cost = [&](int64_t pixels) {
    return static_cast<double>(stretch(weights, stride, pixels) * ceil_div(pixels * weights.oc, lanes)) /
           static_cast<double>(pixels);
  };
  if (weights.ic == 0 || weights.oc == 0) return 1;  // any number of pixels would fit
  int64_t best = 1;
  for (int64_t pixels = 2; pixels * weights.oc <= tiling().panel; ++pixels)
    if (cost(pixels) < cost(best)) best = pixels;
  return cost(best) <= kWorthIt * cost(1) ? best : 1;
}

Result<PackedBanded> pack_banded(const ConvWeights& weights, int64_t stride, const float* data) {
  PackedBanded result{weights, banded_pixels(weights, stride), stride, {}, {}, {}};
  const int64_t ic = weights.ic, oc = weights.oc, kw = weights.kernel[2], taps = kernel_rows(weights);
  const int64_t kernel = kw * ic, depth = stretch(weights, stride, result.pixels) * ic, cols = result.pixels * oc;
  // [taps][kernel][oc] and [taps][depth][cols]
  AlignedFloats plain = TRY(AlignedFloats::zeros(taps * kernel * oc));
  AlignedFloats band = TRY(AlignedFloats::zeros(taps * depth * cols));
  for (int64_t o = 0; o < oc; ++o)
    for (int64_t c = 0; c < ic; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t k = 0; k < kw; ++k) {
          const float weight = data[((o * ic + c) * taps + tap) * kw + k];
          plain.data()[(tap * kernel + k * ic + c) * oc + o] = weight;
          for (int64_t p = 0; p < result.pixels; ++p)
            band.data()[(tap * depth + (p * stride + k) * ic + c) * cols + p * oc + o] = weight;
        }
  result.exact = TRY(pack_b({plain.data(), oc, 1, kernel * oc}, kernel, oc, taps));
  result.band = TRY(pack_b({band.data(), cols, 1, depth * cols}, depth, cols, taps));
  result.zeros = TRY(AlignedFloats::zeros(depth));
  return result;
}

void banded(Team& team, const ConvShape& shape, const float* in, const PackedBanded& packed, float* out,
            const Epilogue& epilogue, void* workspace) {
  const Plan plan(shape, packed.weights);
  CHECK(packed.band.panel == tiling().panel && packed.pixels == plan.pixels && packed.stride == shape.window.stride[2]);
  CHECK(!epilogue.residual && shape.in_ld == 0 && shape.out_ld == 0 && shape.window.dilation[2] == 1);
  CHECK(packed.weights.groups == 1 && (shape.input == ConvInput::kChannelsLast || packed.weights.ic == 1));
  const Run run{shape, packed, plan, in, out, epilogue};
  auto* bytes = static_cast<std::byte*>(workspace);
  float* bias = nullptr;
  if (epilogue.bias) {
    bias = reinterpret_cast<float*>(bytes);
    for (int64_t i = 0; i < plan.cols; ++i) bias[i] = epilogue.bias[i % packed.weights.oc];
  }
  bytes += round_up(plan.cols * 4, kCacheLine);
  const Split split = split_result(plan.rows, plan.cols, plan.num_taps * plan.depth, 1);
  team.run(split.row_blocks, [&](int64_t part, int worker) {
    std::byte* mine = bytes + worker * plan.worker_bytes();
    const Run::Memory memory{reinterpret_cast<const float**>(mine), reinterpret_cast<float*>(mine + plan.pointer_bytes),
                             reinterpret_cast<float*>(mine + plan.pointer_bytes + plan.border_bytes)};
    const int64_t row0 = part * split.rows, count = std::min(split.rows, plan.rows - row0);
    run.rows(row0, count, bias, memory);
    if (epilogue.hook) run.hook(row0, count);
  });
}

int64_t banded_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size) {
  const Plan plan(shape, weights);
  return round_up(plan.cols * 4, kCacheLine) + team_size * plan.worker_bytes();
}

const ConvFamily kConvBanded = {
    .name = "banded",
    .serves =
        [](const ConvProblem& c) { return c.weights.groups == 1 && c.window.dilations.back() == 1 && !c.residual; },
    .suits = [](const ConvProblem& c) { return banded_pixels(c.weights, c.window.strides.back()) > 1; },
    .pack = [](const ConvProblem& c,
               const float* w) { return packed_filter<banded>(pack_banded(c.weights, c.window.strides.back(), w)); },
    .workspace_bytes = banded_workspace_bytes};

}  // namespace kiln::cpu
