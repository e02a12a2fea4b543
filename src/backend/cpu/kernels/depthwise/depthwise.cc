#include "backend/cpu/kernels/depthwise/depthwise.h"

#include <algorithm>

#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/kernels/depthwise/row.h"

namespace kiln::cpu {
namespace {

// Some microseconds of work: ten times what a fork costs.
constexpr int64_t kWorkOfPart = 1 << 17;

struct Call {
  const ConvShape& shape;
  const float* in;
  const PackedDepthwise& packed;
  float* out;
  const Epilogue& epilogue;
  ptrdiff_t in_ld, out_ld;

  /// Output row `index` of n * od * oh.
  void row(int64_t index) const {
    const Window& w = shape.window;
    const Pixel at = pixel_of(w.out, index * w.out[2]);
    const int64_t first = index * w.out[2];
    DepthwiseRow row{w,      packed.channels, {},    {},    packed.channels, 0, in_ld, out + first * out_ld,
                     out_ld, nullptr,         false, false, epilogue};
    if (epilogue.residual) row.residual = epilogue.residual + first * epilogue.ldr;
    const TapRange depth = taps_inside(w, 0, at.at[0]), height = taps_inside(w, 1, at.at[1]);
    for (int64_t kz = depth.begin; kz < depth.end; ++kz)
      for (int64_t ky = height.begin; ky < height.end; ++ky) {
        if (row.num_lines == kMostLines) flush(row);
        const int64_t z = w.start(0, at.at[0]) + kz * w.dilation[0], y = w.start(1, at.at[1]) + ky * w.dilation[1];
        row.lines[row.num_lines] = in + ((at.n * w.in[0] + z) * w.in[1] + y) * w.in[2] * in_ld;
        row.weights[row.num_lines] = packed.data.data() + (kz * w.kernel[1] + ky) * w.kernel[2] * packed.channels;
        ++row.num_lines;
      }
    row.last = true;
    run_depthwise_row(row);
  }

  /// Kernels of more rows than fit go on from the sums in `out`.
  static void flush(DepthwiseRow& row) {
    run_depthwise_row(row);
    row.num_lines = 0;
    row.add_to_out = true;
  }
};

}  // namespace

Result<PackedDepthwise> pack_depthwise(const ConvWeights& of, const float* weights) {
  const int64_t channels = of.oc, taps = of.kernel[0] * of.kernel[1] * of.kernel[2];
  PackedDepthwise result{channels, {of.kernel[0], of.kernel[1], of.kernel[2]}, {}};
  result.data = TRY(AlignedFloats::zeros(channels * taps));
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t c = 0; c < channels; ++c) result.data.data()[t * channels + c] = weights[c * taps + t];
  return result;
}

void depthwise(Team& team, const ConvShape& shape, const float* in, const PackedDepthwise& packed, float* out,
               const Epilogue& epilogue, void*) {
  const Window& w = shape.window;
  CHECK(std::equal(packed.kernel, packed.kernel + 3, w.kernel));
  const int64_t channels = packed.channels;
  const Call call{
      shape, in, packed, out, epilogue, shape.in_ld ? shape.in_ld : channels, shape.out_ld ? shape.out_ld : channels};
  const int64_t rows = shape.n * w.out[0] * w.out[1];
  const int64_t work = std::max<int64_t>(w.out[2] * channels * w.taps(), 1);
  const int64_t rows_of_part = std::max<int64_t>(1, kWorkOfPart / work);
  if (w.out[2] * channels == 0) return;
  team.run(ceil_div(rows, rows_of_part), [&](int64_t part, int) {
    const int64_t begin = part * rows_of_part, end = std::min(rows, begin + rows_of_part);
    for (int64_t row = begin; row < end; ++row) call.row(row);
    if (const TileHook* hook = epilogue.hook)
      hook->apply(hook->self, out + begin * w.out[2] * call.out_ld, (end - begin) * w.out[2], channels, call.out_ld,
                  begin * w.out[2], 0);
  });
}

const ConvFamily kConvDepthwise = {
    .name = "depthwise",
    .serves = [](const ConvProblem& c) { return c.weights.is_depthwise(); },
    .suits = [](const ConvProblem& c) { return c.weights.groups > 1; },
    .pack = [](const ConvProblem& c, const float* w) { return packed_filter<depthwise>(pack_depthwise(c.weights, w)); },
    .workspace_bytes = [](const ConvShape&, const ConvWeights&, int) { return int64_t{0}; }};

}  // namespace kiln::cpu
