#include "backend/cpu/kernels/conv/conv.h"

#include <algorithm>

#include "backend/cpu/kernels/conv/channels_last.h"
#include "backend/cpu/kernels/conv/family.h"
#include "backend/cpu/kernels/conv/pointers.h"
#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/split.h"
#include "backend/cpu/kernels/gemm/unpack.h"
#include "backend/cpu/kernels/padded.h"

namespace kiln::cpu {
namespace {

// With so few channels a tap's sum is short, and most time would go into the step from tap to tap.
constexpr int64_t kFewChannels = 32;

// Inputs of at most so many bytes, and those that are copied in any case, are copied between zeros where windows hang
// over edges, unless there are more zeros than inputs: no window is copied by itself then, and all pointers of a row
// are one run.
constexpr int64_t kMostPaddedBytes = 1 << 17;

/// The pieces of the workspace: [input copied to channels last, perhaps with its padding][how far taps lie from their
/// first][for each worker: pointers, windows over edges].
struct Plan {
  Window window;  // over the copy, if there is one
  bool copies, padded;
  bool regular;  // no window hangs over an edge, so that one pointer says where all its taps are
  int64_t rows;  // output pixels
  ptrdiff_t ld, out_ld;
  Taps taps;
  int64_t num_taps, depth;  // of one tap
  int64_t copy_floats, offset_bytes, pointer_bytes, border_bytes;

  Plan(const ConvShape& shape, const ConvWeights& weights) {
    const Window& w = window = shape.window;
    const bool copied = shape.input == ConvInput::kChannelsFirst;
    rows = shape.n * w.out_pixels();
    ld = copied || shape.in_ld == 0 ? weights.ic : shape.in_ld;
    out_ld = shape.out_ld == 0 ? weights.oc : shape.out_ld;
    const bool merge =
        weights.groups == 1 && w.kernel[2] > 1 && w.dilation[2] == 1 && ld == weights.ic && weights.ic <= kFewChannels;
    taps = merge ? Taps::kRows : Taps::kPixels;
    num_taps = w.taps() / (merge ? w.kernel[2] : 1);
    depth = weights.ic / weights.groups * (merge ? w.kernel[2] : 1);
    const bool hangs = merge && hangs_over_edges(w);
    const Window whole = cpu::padded(w);
    const double whole_pixels =
        static_cast<double>(whole.in[0]) * static_cast<double>(whole.in[1]) * static_cast<double>(whole.in[2]);
    const double whole_bytes = static_cast<double>(shape.n) * whole_pixels * static_cast<double>(weights.ic) * 4;
    padded = hangs &&
             (whole_bytes <= kMostPaddedBytes || (copied && whole_pixels <= 2 * static_cast<double>(w.in_pixels())));
    if (padded) window = whole;
    copy_floats = copied || padded ? round_up(shape.n * window.in_pixels() * weights.ic, kCacheLine / 4) : 0;
    copies = copy_floats > 0;
    // What is beyond the limit wants no less than what is within, so that the largest shapes of a profile want most.
    if (hangs && !padded) copy_floats = std::max(copy_floats, kMostPaddedBytes / 4);
    regular = num_taps > 1 && !hangs_over_edges(window);
    offset_bytes = round_up(num_taps * static_cast<int64_t>(sizeof(ptrdiff_t)), kCacheLine);
    const int64_t most_rows = kBlockRows + tiling().rows;
    pointer_bytes = round_up(most_rows * num_taps * static_cast<int64_t>(sizeof(float*)), kCacheLine);
    border_bytes = merge ? round_up(most_rows * num_taps * depth * 4, kCacheLine) : 0;
  }
  int64_t worker_bytes() const { return pointer_bytes + border_bytes; }
};

/// [n, c, pixels] to [n, pixels, c].
void copy_pictures(Team& team, int64_t n, int64_t c, int64_t pixels, const float* in, float* out) {
  constexpr int64_t kStrip = 8192;
  const int64_t strips = ceil_div(pixels, kStrip);
  team.run(n * strips, [&](int64_t part, int) {
    const int64_t image = part / strips * c * pixels, begin = part % strips * kStrip;
    to_channels_last(in + image, pixels, c, begin, std::min(pixels, begin + kStrip), out + image);
  });
}

/// [n, pixels, c], or [n, c, pixels], to [n, pixels of the padded window, c], with zeros around each picture.
void copy_between_zeros(Team& team, const ConvShape& shape, int64_t c, const float* in, float* out) {
  const int64_t pixels = shape.window.in_pixels(), width = shape.window.in[2];
  const auto copy_line = [&](int64_t image, int64_t pixel, float* line) {
    const float* const picture = in + image * c * pixels;
    if (shape.input == ConvInput::kChannelsFirst)
      to_channels_last(picture, pixels, c, pixel, pixel + width, line - pixel * c);
    else
      std::copy_n(picture + pixel * c, width * c, line);
  };
  copy_between_padding<float>(team, shape.window, shape.n, c, 0, out, copy_line);
}

/// Output channels [col0, col0 + cols) of group `group` for the rows whose pointers `block` has.
void convolve_group(Block block, const PackedConv& packed, const Plan& plan, int64_t row0, int64_t group, int64_t col0,
                    int64_t cols, float* out, const Epilogue& epilogue) {
  const ConvWeights& weights = packed.weights;
  const int64_t channel = group * (weights.oc / weights.groups) + col0;
  block.a_offset = group * (weights.ic / weights.groups);
  block.cols = cols;
  block.b = packed.b.at(group) + col0 * plan.num_taps * plan.depth;
  block.c = out + row0 * plan.out_ld + channel;
  block.ldc = plan.out_ld;
  block.bias = epilogue.bias ? epilogue.bias + channel : nullptr;
  block.residual = epilogue.residual ? epilogue.residual + row0 * epilogue.ldr + channel : nullptr;
  block.ldr = epilogue.ldr;
  block.lo = epilogue.lo;
  block.hi = epilogue.hi;
  run_block(block);
}

}  // namespace

ConvWeights ConvWeights::of(std::span<const int64_t> w, int64_t groups) {
  ConvWeights weights{w[1] * groups, w[0], groups};
  std::ranges::copy(w.subspan(2), std::end(weights.kernel) - (w.size() - 2));
  return weights;
}

Result<PackedConv> pack_conv(const ConvWeights& weights, const float* data) {
  TRY(require(weights.groups > 0 && weights.ic % weights.groups == 0 && weights.oc % weights.groups == 0, "groups ",
              weights.groups, " must divide ", weights.ic, " input and ", weights.oc, " output channels"));
  const int64_t taps = weights.kernel[0] * weights.kernel[1] * weights.kernel[2];
  const int64_t ic = weights.ic / weights.groups, oc = weights.oc / weights.groups;
  PackedConv result{weights, {}, {}};
  result.b = TRY(pack_b({data, taps, ic * taps, 1}, ic, oc, taps, weights.groups, oc * ic * taps));
  result.zeros = TRY(AlignedFloats::zeros(weights.ic * weights.kernel[2]));
  return result;
}

void PackedConv::unpack(float* to) const { unpack_b(b, {nullptr, b.taps, b.k * b.taps, 1}, b.n * b.k * b.taps, to); }

void conv(Team& team, const ConvShape& shape, const float* in, const PackedConv& packed, float* out,
          const Epilogue& epilogue, void* workspace) {
  const ConvWeights& weights = packed.weights;
  CHECK(packed.b.panel == tiling().panel);
  CHECK(std::equal(weights.kernel, weights.kernel + 3, shape.window.kernel));
  const Plan plan(shape, weights);
  const int64_t tile_rows = tiling().rows, oc = weights.oc / weights.groups;
  auto* bytes = static_cast<std::byte*>(workspace);
  if (plan.copies) {
    auto* copy = reinterpret_cast<float*>(bytes);
    if (plan.padded)
      copy_between_zeros(team, shape, weights.ic, in, copy);
    else
      copy_pictures(team, shape.n, weights.ic, shape.window.in_pixels(), in, copy);
    in = copy;
  }
  bytes += plan.copy_floats * 4;
  const PointerSource source{plan.window, in, plan.ld, packed.zeros.data(), plan.taps};
  Window first_taps = plan.window;
  if (plan.regular) {
    fill_tap_offsets(source, reinterpret_cast<ptrdiff_t*>(bytes));
    for (int64_t& extent : first_taps.kernel) extent = 1;
  }
  const PointerSource pointers{first_taps, in, plan.ld, packed.zeros.data(), plan.regular ? Taps::kPixels : plan.taps};
  // Without groups a part is some rows and some columns. With groups it is some rows and some groups; for the split
  // each group counts as one panel of columns.
  const bool grouped = weights.groups > 1;
  const Split split =
      split_result(plan.rows, grouped ? weights.groups * tiling().panel : oc, plan.num_taps * plan.depth, 1);
  team.run(split.parts(), [&](int64_t part, int worker) {
    const int64_t row0 = split.row_of(part), col0 = split.col_of(part);
    std::byte* mine = bytes + plan.offset_bytes + worker * plan.worker_bytes();
    auto** table = reinterpret_cast<const float**>(mine);
    Block block{};
    block.a = table;
    block.rows = std::min(split.rows, plan.rows - row0);
    block.taps = plan.num_taps;
    block.k = plan.depth;
    if (plan.regular) block.tap_offsets = reinterpret_cast<const ptrdiff_t*>(bytes);
    fill_pointers(pointers, row0, block.rows, tile_rows, table, reinterpret_cast<float*>(mine + plan.pointer_bytes));
    int64_t first = col0, last = std::min(oc, col0 + split.cols);
    if (grouped) {
      const int64_t group0 = col0 / tiling().panel,
                    group1 = std::min(weights.groups, group0 + split.cols / tiling().panel);
      for (int64_t group = group0; group < group1; ++group)
        convolve_group(block, packed, plan, row0, group, 0, oc, out, epilogue);
      first = group0 * oc, last = group1 * oc;
    } else {
      convolve_group(block, packed, plan, row0, 0, first, last - first, out, epilogue);
    }
    if (const TileHook* hook = epilogue.hook)
      hook->apply(hook->self, out + row0 * plan.out_ld + first, block.rows, last - first, plan.out_ld, row0, first);
  });
}

int64_t conv_workspace_bytes(const ConvShape& shape, const ConvWeights& weights, int team_size) {
  const Plan plan(shape, weights);
  return plan.copy_floats * 4 + plan.offset_bytes + team_size * plan.worker_bytes();
}

const ConvFamily kConvDirect = {
    .name = "direct",
    .serves = [](const ConvProblem&) { return true; },
    .suits = [](const ConvProblem& c) { return !c.weights.is_depthwise() || c.weights.groups == 1; },
    .pack = [](const ConvProblem& c, const float* w) { return packed_filter<conv>(pack_conv(c.weights, w)); },
    .workspace_bytes = conv_workspace_bytes,
    .picture_channels = 4};

}  // namespace kiln::cpu
