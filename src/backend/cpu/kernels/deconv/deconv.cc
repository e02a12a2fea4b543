#include "backend/cpu/kernels/deconv/deconv.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm/block.h"

namespace kiln::cpu {
namespace {

using Phase = PackedDeconv::Phase;

/// Packs the weights of a phase as one matrix. The taps are gathered first: they are not evenly spaced in the source.
Result<PackedB> pack_phase(const DeconvWeights& weights, const Phase& phase, const float* data) {
  const int64_t ic = weights.ic / weights.groups, oc = weights.oc / weights.groups;
  const int64_t taps = phase.num_taps();
  if (ic * oc == 0) return pack_b({nullptr, oc, 1, 0}, ic, oc, taps, weights.groups);  // however many groups there are
  const int64_t volume = weights.kernel[0] * weights.kernel[1] * weights.kernel[2];
  AlignedFloats rows = TRY(AlignedFloats::zeros(weights.groups * taps * ic * oc));
  float* to = rows.data();
  for (int64_t g = 0; g < weights.groups; ++g)
    for (int64_t z : phase.taps[0])
      for (int64_t y : phase.taps[1])
        for (int64_t x : phase.taps[2]) {
          const int64_t tap = (z * weights.kernel[1] + y) * weights.kernel[2] + x;
          for (int64_t i = 0; i < ic; ++i)
            for (int64_t o = 0; o < oc; ++o) *to++ = data[((g * ic + i) * oc + o) * volume + tap];
        }
  return pack_b({rows.data(), oc, 1, ic * oc}, ic, oc, taps, weights.groups, taps * ic * oc);
}

/// Output pixels of a row that are next to each other within their phase: o = first + i * stride.
struct Segment {
  int64_t n, z, y, first, pixels;
};

struct Call {
  const DeconvShape& shape;
  const float* in;
  const PackedDeconv& packed;
  float* out;
  const Epilogue& epilogue;
  ptrdiff_t in_ld, out_ld;

  /// The input position of an axis that tap k of output o reads, or -1.
  int64_t source(int axis, int64_t o, int64_t k) const {
    const int64_t at = o + shape.pad[axis] - k * packed.weights.dilation[axis];
    if (at < 0 || at % packed.weights.stride[axis] != 0) return -1;
    const int64_t i = at / packed.weights.stride[axis];
    return i < shape.in[axis] ? i : -1;
  }

  void fill(const Phase& phase, const Segment& segment, int64_t tile_rows, const float** table) const {
    const int64_t group = phase.num_taps() * tile_rows;
    int64_t tap = 0;
    for (int64_t kz : phase.taps[0])
      for (int64_t ky : phase.taps[1]) {
        const int64_t z = source(0, segment.z, kz), y = source(1, segment.y, ky);
        const float* line =
            z < 0 || y < 0 ? nullptr : in + ((segment.n * shape.in[0] + z) * shape.in[1] + y) * shape.in[2] * in_ld;
        for (int64_t kx : phase.taps[2]) {
          for (int64_t i = 0; i < segment.pixels; ++i) {
            const int64_t x = source(2, segment.first + i * packed.weights.stride[2], kx);
            table[i / tile_rows * group + tap * tile_rows + i % tile_rows] =
                line && x >= 0 ? line + x * in_ld : packed.zeros.data();
          }
          ++tap;
        }
      }
  }

  void run_segment(const Phase& phase, const Segment& segment, const float** table) const {
    const DeconvWeights& weights = packed.weights;
    fill(phase, segment, tiling().rows, table);
    const int64_t step = weights.stride[2], oc = weights.oc / weights.groups;
    const int64_t pixel =
        ((segment.n * shape.out[0] + segment.z) * shape.out[1] + segment.y) * shape.out[2] + segment.first;
    Block block{};
    block.a = table;
    block.rows = segment.pixels;
    block.cols = oc;
    block.taps = phase.num_taps();
    block.k = weights.ic / weights.groups;
    block.ldc = out_ld * step;
    block.ldr = epilogue.ldr * step;
    block.lo = epilogue.lo;
    block.hi = epilogue.hi;
    for (int64_t g = 0; g < weights.groups; ++g) {
      block.a_offset = g * block.k;
      block.b = phase.b.at(g);
      block.c = out + pixel * out_ld + g * oc;
      block.bias = epilogue.bias ? epilogue.bias + g * oc : nullptr;
      block.residual = epilogue.residual ? epilogue.residual + pixel * epilogue.ldr + g * oc : nullptr;
      run_block(block);
    }
  }

  /// Output row `index` of n * od * oh: all its phases, then the hook on the whole row.
  void row(int64_t index, const float** table) const {
    const auto& stride = packed.weights.stride;
    Segment segment{};
    segment.y = index % shape.out[1];
    segment.z = index / shape.out[1] % shape.out[0];
    segment.n = index / shape.out[1] / shape.out[0];
    const int64_t outer = (segment.z + shape.pad[0]) % stride[0] * stride[1] + (segment.y + shape.pad[1]) % stride[1];
    for (int64_t first = 0; first < std::min(stride[2], shape.out[2]); ++first) {
      const Phase& phase = packed.phases[static_cast<size_t>(outer * stride[2] + (first + shape.pad[2]) % stride[2])];
      const int64_t pixels = ceil_div(shape.out[2] - first, stride[2]);
      for (int64_t done = 0; done < pixels; done += kBlockRows) {
        segment.first = first + done * stride[2];
        segment.pixels = std::min(kBlockRows, pixels - done);
        run_segment(phase, segment, table);
      }
    }
    const int64_t row0 = index * shape.out[2];
    if (const TileHook* hook = epilogue.hook)
      hook->apply(hook->self, out + row0 * out_ld, shape.out[2], packed.weights.oc, out_ld, row0, 0);
  }
};

int64_t table_bytes(const DeconvWeights& weights) {
  const int64_t taps = weights.kernel[0] * weights.kernel[1] * weights.kernel[2];
  return round_up((kBlockRows + tiling().rows) * taps * static_cast<int64_t>(sizeof(float*)), kCacheLine);
}

}  // namespace

Result<PackedDeconv> pack_deconv(const DeconvWeights& weights, const float* data) {
  TRY(require(weights.groups > 0 && weights.ic % weights.groups == 0 && weights.oc % weights.groups == 0, "groups ",
              weights.groups, " must divide ", weights.ic, " input and ", weights.oc, " output channels"));
  PackedDeconv result{weights, {}, {}};
  result.zeros = TRY(AlignedFloats::zeros(weights.ic));
  const int64_t phases = weights.stride[0] * weights.stride[1] * weights.stride[2];
  for (int64_t index = 0; index < phases; ++index) {
    const int64_t at[3] = {index / (weights.stride[1] * weights.stride[2]),
                           index / weights.stride[2] % weights.stride[1], index % weights.stride[2]};
    Phase phase;
    for (int axis = 0; axis < 3; ++axis)
      for (int64_t k = 0; k < weights.kernel[axis]; ++k)
        if (k * weights.dilation[axis] % weights.stride[axis] == at[axis]) phase.taps[axis].push_back(k);
    phase.b = TRY(pack_phase(weights, phase, data));
    result.phases.push_back(std::move(phase));
  }
  return result;
}

void deconv(Team& team, const DeconvShape& shape, const float* in, const PackedDeconv& packed, float* out,
            const Epilogue& epilogue, void* workspace) {
  const DeconvWeights& weights = packed.weights;
  CHECK(!packed.phases.empty() && packed.phases[0].b.panel == tiling().panel);
  const Call call{shape,
                  in,
                  packed,
                  out,
                  epilogue,
                  shape.in_ld ? shape.in_ld : weights.ic,
                  shape.out_ld ? shape.out_ld : weights.oc};
  const int64_t bytes = table_bytes(weights);
  team.run(shape.n * shape.out[0] * shape.out[1], [&](int64_t row, int worker) {
    call.row(row, reinterpret_cast<const float**>(static_cast<std::byte*>(workspace) + worker * bytes));
  });
}

int64_t deconv_workspace_bytes(const DeconvWeights& weights, int team_size) { return team_size * table_bytes(weights); }

}  // namespace kiln::cpu
