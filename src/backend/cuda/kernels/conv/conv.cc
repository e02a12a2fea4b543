#include "backend/cuda/kernels/conv/conv.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/compile/gemm/wgmma_text.h"
#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr std::string_view kFiles[] = {"conv/simt.cu",  "conv/mma.cu",    "depthwise/depthwise.cu",
                                       "conv/wgmma.cu", "conv/im2col.cu", "conv/stem.cu",
                                       "conv/halo.cu"};
constexpr const char* kEntries[] = {"conv_simt",   "conv_mma",  "depthwise", "conv_wgmma",
                                    "conv_im2col", "conv_stem", "conv_halo"};
constexpr int64_t kDepthwiseThreads = 128;

int64_t taps_read(const ConvKernel& kernel, const FilterExtents& filter) {
  return kernel.shuffle ? 1 : filter.taps * (kernel.splits_filter() ? 2 : 1);
}
int64_t channels_read(const ConvKernel& kernel, const FilterExtents& filter) {
  return kernel.pad_channels ? kernel.pad_channels : filter.in_channels;
}
/// Elements from one output channel of a packed filter to the next: whole 16-byte pieces.
int64_t packed_pitch(const ConvKernel& kernel, const FilterExtents& filter) {
  const int64_t whole = 16 / bytes_of(kernel.types.a);
  return ceil_div(taps_read(kernel, filter) * channels_read(kernel, filter), whole) * whole;
}

/// pack_filter for splits_filter: the second halves are taps behind the first ones, which look at the same places.
Bytes pack_split(const ConvKernel& kernel, const FilterExtents& f, std::span<const std::byte> elements) {
  const int64_t pitch = packed_pitch(kernel, f), channels = channels_read(kernel, f);
  Bytes packed(static_cast<size_t>(f.groups * f.out_channels * pitch * bytes_of(kernel.types.a)));
  const std::byte* from = elements.data();
  for (int64_t out = 0; out < f.groups * f.out_channels; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += sizeof(float)) {
        const int64_t to = out * pitch + tap * channels + in;
        store_split(kernel.types.a, load_number(DType::kF32, from, 0), packed.data(), to, to + f.taps * channels);
      }
  return packed;
}

}  // namespace

std::span<const std::string_view> enum_names(ConvFamily) {
  static constexpr std::string_view kNames[] = {"simt", "mma", "depthwise", "wgmma", "im2col", "stem", "halo"};
  return kNames;
}

std::string ConvKernel::name() const {
  const std::string order = channels_last ? "" : ", channels first", split = types.is_mixed() ? ", w in two" : "";
  switch (family) {
    case ConvFamily::kSimt:
      return str(transposed ? "gather simt " : "simt ", tile.name(), order, types.is_mixed() ? ", w in f32" : "");
    case ConvFamily::kDepthwise:
      return str(kernel_w ? "depthwise rows " : "depthwise ", vec, " channels, ", columns, " columns", order,
                 types.is_mixed() ? ", w in f32" : "");
    default: break;
  }
  if (family == ConvFamily::kHalo) return str("halo ", tile.name(), " in ", tile.stages);
  if (family == ConvFamily::kStem) return str("stem ", tile.bm, "x", tile.bn, ", ", lines, " lines of ", parts, split);
  if (family == ConvFamily::kIm2col)
    return str("im2col ", tile.name(), " in ", tile.stages, splits > 1 ? str(", k in ", splits) : "",
               shuffle ? ", shuffled" : "");
  const std::string_view units = family == ConvFamily::kWgmma ? "wgmma " : types.a == DType::kF32 ? "tf32 " : "mma ";
  return str(units, tile.name(), " in ", tile.stages, splits > 1 ? str(", k in ", splits) : "",
             piece == 16 ? "" : str(", pieces of ", piece, " bytes"), pad_channels ? ", padded" : "", split);
}

Status ConvKernel::check() const {
  const bool simt = family == ConvFamily::kSimt, depthwise = family == ConvFamily::kDepthwise;
  if (!depthwise) TRY(tile.require_whole());
  TRY(require(pad_channels >= 0 && pad_channels <= 8, "a convolution pads to ", pad_channels, " channels"));
  TRY(require(splits >= 1 && splits <= 64 && vec >= 1 && vec <= 8 && columns >= 1 && columns <= 16,
              "a convolution has ", splits, " splits, vectors of ", vec, " and ", columns, " columns"));
  TRY(require(!types.is_mixed() || (types.b == DType::kF32 && !transposed && (simt || depthwise || splits_filter())),
              "a convolution by ", family, " does not take weights of ", types.b, " for ", types.a));
  return require((depthwise || simt == (tile.warps_m == 0)) &&
                     (!(simt || depthwise) || (splits == 1 && pad_channels == 0)) &&
                     (!joined || family == ConvFamily::kIm2col || family == ConvFamily::kHalo) &&
                     (!shuffle || (family == ConvFamily::kIm2col && transposed)),
                 "a convolution by ", family, " is not tiled by ", tile.name(), " in ", splits, " splits");
}

std::string_view entry_of(const ConvKernel& kernel) {
  const bool rows = kernel.family == ConvFamily::kDepthwise && kernel.kernel_w;
  return rows ? "depthwise_rows" : kEntries[static_cast<size_t>(kernel.family)];
}

int64_t alignment_of(const ConvKernel& kernel) {
  const int64_t vector = std::min<int64_t>(16, kernel.vec * 4);  // of what an epilogue reads, FP32 at most
  switch (kernel.family) {
    case ConvFamily::kSimt: return 1;
    case ConvFamily::kDepthwise:
    case ConvFamily::kStem: return vector;
    case ConvFamily::kMma:
    case ConvFamily::kWgmma: return std::max(kernel.piece, vector);
    case ConvFamily::kIm2col:
    case ConvFamily::kHalo: break;
  }
  return 16;
}

KernelSource source_of(const ConvKernel& kernel, const Epilogue& epilogue) {
  const auto family = static_cast<size_t>(kernel.family);
  const bool rows = kernel.family == ConvFamily::kDepthwise && kernel.kernel_w;
  KernelSource source{
      rows ? "depthwise/rows.cu" : kFiles[family], epilogue_source(epilogue), {}, std::string(entry_of(kernel))};
  if (kernel.family >= ConvFamily::kWgmma) {
    source.defines = {str("BM=", kernel.tile.bm), str("BN=", kernel.tile.bn), str("STAGES=", kernel.tile.stages)};
    source.prelude += wgmma_source(kernel.tile.bn, kernel.types.a);
  } else if (kernel.family != ConvFamily::kDepthwise) {
    source.defines = defines_of(kernel.tile);
  }
  source.quick = is_quick(epilogue);
  const auto define = [&](std::string_view name, const auto& value) {
    source.defines.push_back(str(name, "=", value));
  };
  define("ELEMENT", element_name(kernel.types.a));
  if (kernel.types.is_mixed() && !kernel.splits_filter()) define("FILTER", element_name(kernel.types.b));
  define("RESULT", element_name(kernel.types.out));
  if (kernel.family == ConvFamily::kIm2col || kernel.family == ConvFamily::kHalo) define("JOINED", int{kernel.joined});
  if (kernel.family >= ConvFamily::kIm2col && epilogue.bias) define("BIAS", element_name(*epilogue.bias));
  switch (kernel.family) {
    case ConvFamily::kSimt:
      define("TRANSPOSED", int{kernel.transposed});
      define("A_K_FAST", int{kernel.channels_last});
      define("B_K_FAST", 1);
      break;
    case ConvFamily::kMma:
      define("A_PIECE", kernel.piece);
      define("PAD_CHANNELS", kernel.pad_channels);
      define("B_PIECE", 16);
      define("VEC", kernel.vec);
      define("SPLIT", int{kernel.splits > 1});
      break;
    case ConvFamily::kWgmma:
      define("A_PIECE", kernel.piece);
      define("PAD_CHANNELS", kernel.pad_channels);
      define("VEC", kernel.vec);
      define("SPLIT", kernel.splits);
      break;
    case ConvFamily::kIm2col:
      define("VEC", kernel.vec);
      define("SPLIT", kernel.splits);
      define("SHUFFLE", int{kernel.shuffle});
      break;
    case ConvFamily::kHalo:
      define("VEC", kernel.vec);
      define("KERNEL_H", kernel.kernel_h);
      define("KERNEL_W", kernel.kernel_w);
      break;
    case ConvFamily::kStem:
      define("VEC", kernel.vec);
      define("LINES", kernel.lines);
      define("PARTS", kernel.parts);
      define("CHANNELS", kernel.channels);
      if (kernel.splits_filter()) define("TERMS", 2);
      define("KERNEL_H", kernel.kernel_h);
      define("KERNEL_W", kernel.kernel_w);
      define("STRIDE", kernel.stride);
      break;
    case ConvFamily::kDepthwise:
      define("VEC", kernel.vec);
      define("COLUMNS", kernel.columns);
      if (!kernel.kernel_w) break;
      define("KERNEL_H", kernel.kernel_h);
      define("KERNEL_W", kernel.kernel_w);
      define("STRIDE", kernel.stride);
      break;
  }
  return source;
}

Result<FilterExtents> FilterExtents::of(std::span<const int64_t> w, int64_t groups, bool transposed) {
  TRY(require(w.size() >= 3 && groups >= 1 && w[0] % groups == 0, "a filter of ", Extents(w.begin(), w.end()), " in ",
              groups, " groups"));
  FilterExtents filter{groups, transposed ? w[0] / groups : w[1], transposed ? w[1] : w[0] / groups, 1};
  bool counts = true;
  for (size_t i = 2; i < w.size(); ++i) counts = counts && !__builtin_mul_overflow(filter.taps, w[i], &filter.taps);
  // A kernel may add up twice the taps, of up to eight times the channels.
  int64_t sum = 0;
  counts = counts && !__builtin_mul_overflow(std::max<int64_t>(filter.taps, 1), filter.in_channels, &sum) &&
           sum < kMostConvRows / 16 && filter.taps < kMostConvRows / 16;
  TRY(require(counts && groups < kMostConvRows && filter.out_channels < kMostConvRows, "a filter of ",
              Extents(w.begin(), w.end()), " in ", groups, " groups; kernels count to 2^31"));
  return filter;
}

bool packs_filter(const ConvKernel& kernel) { return kernel.family != ConvFamily::kSimt; }

Bytes pack_filter(const ConvKernel& kernel, const FilterExtents& f, std::span<const std::byte> elements) {
  if (kernel.family == ConvFamily::kStem) return pack_stem(kernel, f, elements);
  if (kernel.splits_filter()) return pack_split(kernel, f, elements);
  const auto size = static_cast<size_t>(bytes_of(kernel.types.b));
  const bool depthwise = kernel.family == ConvFamily::kDepthwise;
  const int64_t pitch = depthwise ? 0 : packed_pitch(kernel, f), outs = f.groups * f.out_channels;
  const int64_t lines = kernel.shuffle ? f.taps * outs : outs;
  Bytes packed(static_cast<size_t>(depthwise ? f.taps * outs : lines * pitch) * size);
  const std::byte* from = elements.data();
  if (kernel.shuffle) {
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t out = 0; out < outs; ++out)
        for (int64_t tap = 0; tap < f.taps; ++tap, from += size)
          std::memcpy(packed.data() + static_cast<size_t>((tap * outs + out) * pitch + in) * size, from, size);
    return packed;
  }
  for (int64_t out = 0; out < outs; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += size) {
        const int64_t to = depthwise ? tap * outs + out : out * pitch + tap * channels_read(kernel, f) + in;
        std::memcpy(packed.data() + static_cast<size_t>(to) * size, from, size);
      }
  return packed;
}

void set_filter(const ConvKernel& kernel, const FilterExtents& f, ConvArguments& arguments) {
  arguments.groups = static_cast<int32_t>(f.groups);
  arguments.in_channels = static_cast<int32_t>(channels_read(kernel, f));
  arguments.out_channels = static_cast<int32_t>(f.out_channels);
  if (kernel.splits_filter() && kernel.family != ConvFamily::kStem) {  // a second plane of taps, as deep as the first
    arguments.window.kernel[0] = 2;
    arguments.window.dilation[0] = 0;
  }
  if (packs_filter(kernel)) {
    arguments.w_out = packed_pitch(kernel, f);
    arguments.w_group = f.out_channels * arguments.w_out;
    arguments.w_in = 1;
    arguments.w_tap = channels_read(kernel, f);
    return;
  }
  arguments.w_group = f.out_channels * f.in_channels * f.taps;
  arguments.w_out = kernel.transposed ? f.taps : f.in_channels * f.taps;
  arguments.w_in = kernel.transposed ? f.out_channels * f.taps : f.taps;
  arguments.w_tap = 1;
}

int64_t wgmma_shared_bytes(const ConvKernel& kernel) {
  const TileShape& t = kernel.tile;
  const int64_t stages = t.stages * (t.bm + t.bn) * kLineBytes + kStageAlignment;
  return stages + (kernel.splits > 1 ? exchange_bytes(t.bm, t.bn, kernel.splits) : t.bm / 16 * slab_bytes(32));
}

/// The launch in front; what comes behind reads dense pixels.
static Status plan_padding(const ConvKernel& kernel, ConvArguments& a, ConvLaunch& launch) {
  PadArguments& pad = launch.pad_arguments;
  const int64_t in_pixels = int64_t{a.window.in[0]} * a.window.in[1] * a.window.in[2];
  pad.strides = a.x_strides;
  std::ranges::copy(a.window.in, pad.in);
  pad.pixels = a.images * in_pixels;
  const int64_t blocks = ceil_div(pad.pixels, 256);
  TRY(require(blocks < (int64_t{1} << 31), "a convolution reads ", pad.pixels, " pixels; kernels count to 2^31"));
  launch.pad.grid[0] = static_cast<uint32_t>(blocks);
  launch.pad.block[0] = 256;
  launch.pad.pdl = true;
  launch.padded_bytes = ceil_div(pad.pixels * kernel.pad_channels * bytes_of(kernel.types.a), 256) * 256;
  launch.workspace_bytes = launch.padded_bytes;
  const int64_t row = a.window.in[2] * kernel.pad_channels;
  a.x_strides = {in_pixels * kernel.pad_channels, 1, {a.window.in[1] * row, row, kernel.pad_channels}};
  return {};
}

Result<ConvLaunch> plan_conv(const ConvKernel& kernel, ConvArguments& a, int64_t multiprocessors) {
  ConvLaunch launch;
  const TileShape& tile = kernel.tile;
  const int64_t channels = int64_t{a.groups} * a.out_channels;
  const auto set_grid = [&](LaunchShape& shape, int64_t blocks, int64_t threads) {
    shape.grid[0] = grid_blocks(blocks);
    shape.pdl = blocks <= 2 * multiprocessors;
    shape.block[0] = static_cast<uint32_t>(threads);
    return require(blocks < (int64_t{1} << 31), "a convolution of ", blocks, " blocks is more than a grid");
  };
  a.splits = 1;
  if (kernel.family == ConvFamily::kHalo) return plan_halo(kernel, a, multiprocessors);
  if (kernel.family == ConvFamily::kStem) return plan_stem(kernel, a, multiprocessors);
  if (kernel.family == ConvFamily::kIm2col) return plan_im2col(kernel, a, multiprocessors);
  TRY(require(a.out_channels == 0 || a.groups < (int64_t{1} << 31) / a.out_channels, "a convolution makes ", channels,
              " channels; kernels count to 2^31"));
  if (kernel.family == ConvFamily::kDepthwise) {
    const int64_t strips = ceil_div(a.window.out[2], kernel.columns);
    const int64_t items = int64_t{a.images} * a.window.out[0] * a.window.out[1] * strips * (a.groups / kernel.vec);
    TRY(require(!kernel.kernel_w || (items < (int64_t{1} << 32) - kDepthwiseThreads && a.window.kernel[0] == 1 &&
                                     a.window.kernel[1] == kernel.kernel_h && a.window.kernel[2] == kernel.kernel_w &&
                                     a.window.stride[2] == kernel.stride && a.x_strides.n < (int64_t{1} << 31) &&
                                     a.window.in[1] > 0 && a.window.in[2] > 0),
                "a depthwise convolution of ", items, " threads is not the one that was compiled"));
    // Where threads are few, smaller blocks reach more multiprocessors.
    const int64_t threads =
        kernel.kernel_w && items < 2 * multiprocessors * kDepthwiseThreads ? kDepthwiseThreads / 2 : kDepthwiseThreads;
    TRY(set_grid(launch.main, ceil_div(items, threads), threads));
    if (kernel.kernel_w) launch.main.pdl = true;
    return launch;
  }
  if (kernel.pad_channels) TRY(plan_padding(kernel, a, launch));
  const int64_t k = a.window.taps() * a.in_channels, steps = ceil_div(k, tile.bk);
  if (kernel.family != ConvFamily::kSimt) {
    const int64_t reach = int64_t{a.images} * a.x_strides.n;
    TRY(require(reach < (int64_t{1} << 31), "a convolution reads ", reach, " elements; this kernel counts to 2^31"));
  }
  if (kernel.family == ConvFamily::kWgmma) {
    TRY(require(a.groups == 1 && k > 0 && steps >= kernel.splits, "a convolution of ", a.groups, " groups and ", k,
                " products a sum is not for clusters of ", kernel.splits));
    const int64_t tiles = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn), splits = kernel.splits;
    TRY(set_grid(launch.main, splits > 1 ? tiles * splits : std::min(tiles, multiprocessors), 2 * tile.bm + 128));
    launch.main.cluster = static_cast<uint32_t>(splits);
    launch.main.shared_bytes = static_cast<uint32_t>(wgmma_shared_bytes(kernel));
    launch.map_w = map_of(kernel.types.a, k, a.out_channels, a.w_out, 1, 0, tile.bn);
    return launch;
  }
  if (kernel.family == ConvFamily::kMma) {
    a.splits = static_cast<int32_t>(std::max<int64_t>(1, std::min(kernel.splits, steps)));
    launch.main.shared_bytes = mma_shared_bytes(tile, kernel.types.a);
  }
  const int64_t blocks = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn) * a.groups * a.splits;
  TRY(set_grid(launch.main, blocks, tile.threads()));
  if (kernel.splits > 1) {
    launch.reduce_vectors = a.pixels * channels / kernel.vec;
    launch.workspace_bytes += a.pixels * channels * a.splits * 4;
    TRY(set_grid(launch.reduce, ceil_div(launch.reduce_vectors, 256), 256));
  }
  return launch;
}

}  // namespace kiln::cuda
