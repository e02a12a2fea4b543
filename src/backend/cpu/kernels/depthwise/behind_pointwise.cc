#include "backend/cpu/kernels/depthwise/behind_pointwise.h"

#include <algorithm>

#include "backend/cpu/kernels/depthwise/row.h"
#include "backend/cpu/kernels/gemm/block.h"

namespace kiln::cpu {
namespace {

// What a worker keeps of the rows between the convolutions: a panel of channels at least, more of them where they fit.
constexpr int64_t kBytesOfRows = 1 << 15;
// Behind each pixel's channels is room for those that make no vector of their own. It also keeps pixels from lying a
// power of two apart, where those of one channel would be in few sets of the cache.
constexpr int64_t kBetweenPixels = 16;

// Some microseconds of work: ten times what a fork costs.
constexpr int64_t kWorkOfPart = 1 << 18;
// No more than threads need to end together: bands compute the first rows that they read anew.
constexpr int64_t kPartsOfWorker = 4;

// Sizes of what lies between are numbers then.
constexpr int64_t kMostPixels = int64_t{1} << 40;

/// A part is some rows of an image's result, a band, and some channels, a strip.
struct Plan {
  int64_t reach;  // rows between that a row of the result reads, and as many are kept
  int64_t strip, strips;
  int64_t band, bands;  // of an image

  Plan(const ConvShape& shape, int64_t depth, int64_t channels, int team_size) {
    const Window& w = shape.window;
    const int64_t panel = tiling().panel;
    reach = reach_of(w);
    strip = std::max<int64_t>(1, kBytesOfRows / std::max<int64_t>(1, panel_bytes(w))) * panel;
    // Less than a vector behind the last panel belongs to the last strip: alone it would take as long as a vector.
    const int64_t tail = channels % panel;
    const int64_t whole = channels > panel && tail < panel / 2 ? channels - tail : round_up(channels, panel);
    strip = std::min(strip, whole);
    strips = ceil_div(whole, strip);
    CHECK(panel / 2 <= kBetweenPixels);  // the room for the tail
    const double work = static_cast<double>(shape.n) * static_cast<double>(channels) *
                        (static_cast<double>(w.in_pixels()) * static_cast<double>(depth) +
                         static_cast<double>(w.out_pixels()) * static_cast<double>(w.taps()));
    const auto parts =
        static_cast<int64_t>(std::clamp(work / kWorkOfPart, 1.0, static_cast<double>(kPartsOfWorker * team_size)));
    band = ceil_div(w.out[1], std::min(w.out[1], ceil_div(parts, shape.n * strips)));
    bands = ceil_div(w.out[1], band);
  }

  static int64_t reach_of(const Window& w) {
    return std::clamp<int64_t>(w.in[1], 1, (w.kernel[1] - 1) * w.dilation[1] + 1);
  }
  static int64_t panel_bytes(const Window& w) { return reach_of(w) * w.in[2] * (tiling().panel + kBetweenPixels) * 4; }
  static int64_t row_bytes(const Window& w) { return round_up(std::max(kBytesOfRows, panel_bytes(w)), kCacheLine); }
  static int64_t pointer_bytes(const Window& w) {
    return round_up(w.in[2] * static_cast<int64_t>(sizeof(float*)), kCacheLine);
  }
  static int64_t worker_bytes(const Window& w) { return row_bytes(w) + pointer_bytes(w); }
};

/// The channels [begin, begin + count) of an image, and a worker's memory.
struct Part {
  const ConvolutionPair& of;
  const float* in;
  float* out;
  int64_t image, begin, count;
  ptrdiff_t between_ld;  // from pixel to pixel between
  int64_t reach;         // row y between lies at y % reach
  float* rows;
  const float** pixels;  // of x

  const Window& window() const { return of.shape.window; }
  float* row_between(int64_t y) const { return rows + y % reach * window().in[2] * between_ld; }

  void make_row_between(int64_t y) const {
    const Window& w = window();
    const int64_t depth = of.pointwise.weights.ic, first = (image * w.in[1] + y) * w.in[2];
    for (int64_t x = 0; x < w.in[2]; ++x) pixels[x] = in + (first + x) * depth;
    Block block{};
    block.a = pixels;
    block.rows = w.in[2];
    block.cols = count;
    block.k = depth;
    block.b = of.pointwise.b.at(0) + begin * depth;
    block.b_is_near = true;  // but for the first row
    block.c = row_between(y);
    block.ldc = between_ld;
    block.bias = of.inner.bias ? of.inner.bias + begin : nullptr;
    block.lo = of.inner.lo;
    block.hi = of.inner.hi;
    run_block(block);
    if (const TileHook* hook = of.inner.hook)
      hook->apply(hook->self, block.c, w.in[2], count, between_ld, first, begin);
  }

  void make_row(int64_t y) const {
    const Window& w = window();
    const int64_t channels = of.depthwise.channels, first = (image * w.out[1] + y) * w.out[2];
    Epilogue epilogue = of.outer;
    if (epilogue.bias) epilogue.bias += begin;
    DepthwiseRow row{.window = w,
                     .channels = count,
                     .lines = {},
                     .weights = {},
                     .weights_ld = channels,
                     .num_lines = 0,
                     .in_ld = between_ld,
                     .out = out + first * channels + begin,
                     .out_ld = channels,
                     .residual = nullptr,
                     .add_to_out = false,
                     .last = true,
                     .epilogue = epilogue};
    if (epilogue.residual) row.residual = epilogue.residual + first * epilogue.ldr + begin;
    const TapRange taps = taps_inside(w, 1, y);
    for (int64_t ky = taps.begin; ky < taps.end; ++ky) {
      row.lines[row.num_lines] = row_between(w.start(1, y) + ky * w.dilation[1]);
      row.weights[row.num_lines++] = of.depthwise.data.data() + ky * w.kernel[2] * channels + begin;
    }
    run_depthwise_row(row);
    if (const TileHook* hook = epilogue.hook) hook->apply(hook->self, row.out, w.out[2], count, channels, first, begin);
  }

  /// Rows [y, end) of the result.
  void run(int64_t y, int64_t end) const {
    const Window& w = window();
    for (int64_t next = 0; y < end; ++y) {
      const TapRange taps = taps_inside(w, 1, y);
      if (taps.begin < taps.end) {
        // From the window's first row on, though taps may lie in every other one: those between are the next windows'.
        next = std::max({next, w.start(1, y), int64_t{0}});
        for (const int64_t last = w.start(1, y) + (taps.end - 1) * w.dilation[1]; next <= last; ++next)
          make_row_between(next);
      }
      make_row(y);
    }
  }
};

}  // namespace

bool takes_rows_of(const Window& window) {
  return window.in[0] == 1 && window.out[0] == 1 && window.kernel[0] == 1 && window.pad[0] == 0 &&
         window.kernel[1] <= kMostLines && window.in[1] * window.in[2] <= kMostPixels;
}

void pointwise_depthwise(Team& team, const ConvolutionPair& convolutions, const float* in, float* out,
                         void* workspace) {
  const Window& w = convolutions.shape.window;
  const int64_t channels = convolutions.depthwise.channels;
  CHECK(takes_rows_of(w) && convolutions.pointwise.weights.oc == channels);
  CHECK(convolutions.pointwise.b.panel == tiling().panel);
  if (convolutions.shape.n * w.out_pixels() * channels == 0) return;
  const Plan plan(convolutions.shape, convolutions.pointwise.weights.ic, channels, team.size());
  team.run(convolutions.shape.n * plan.bands * plan.strips, [&](int64_t part, int worker) {
    const int64_t begin = part % plan.strips * plan.strip, band = part / plan.strips % plan.bands;
    std::byte* const mine = static_cast<std::byte*>(workspace) + worker * Plan::worker_bytes(w);
    const Part piece{.of = convolutions,
                     .in = in,
                     .out = out,
                     .image = part / plan.strips / plan.bands,
                     .begin = begin,
                     .count = part % plan.strips == plan.strips - 1 ? channels - begin : plan.strip,
                     .between_ld = plan.strip + kBetweenPixels,
                     .reach = plan.reach,
                     .rows = reinterpret_cast<float*>(mine),
                     .pixels = reinterpret_cast<const float**>(mine + Plan::row_bytes(w))};
    piece.run(band * plan.band, std::min(w.out[1], (band + 1) * plan.band));
  });
}

int64_t pointwise_depthwise_workspace_bytes(const ConvShape& shape, int team_size) {
  return team_size * Plan::worker_bytes(shape.window);
}

}  // namespace kiln::cpu
