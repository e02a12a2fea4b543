/// Convolutions on the GPU: which kernels there are, and how each is launched for given extents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/compile/gemm/gemm.h"
#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/gemm/epilogue.h"
#include "backend/cuda/kernels/gemm/hopper.h"
#include "backend/cuda/kernels/gemm/tile.h"
#include "steps/contraction_types.h"
#include "tensor/extents.h"

namespace kiln::cuda {

enum class ConvFamily : uint8_t {
  kSimt,       ///< conv/simt.cu: plain FMA, any strides and groups, transposed too
  kMma,        ///< conv/mma.cu: tensor cores, channels last
  kDepthwise,  ///< depthwise/: an input channel an output channel; rows.cu where `kernel_w` is set
  kWgmma,      ///< conv/wgmma.cu: sm_90a, channels last, one group; splits are blocks of a cluster
  kIm2col,     ///< conv/im2col.cu: the same by the copy engine, of pictures whose pixels are whole 16 bytes
  kStem,       ///< conv/stem.cu: sm_90a, pictures of few channels to channels last
  kHalo        ///< conv/halo.cu: sm_90a, pictures of few channels, channels last, stride 1: weights stay in the block
};
std::span<const std::string_view> enum_names(ConvFamily);

/// The choices that a kernel is compiled for, and how many blocks share the sums.
struct ConvKernel {
  ConvFamily family = ConvFamily::kSimt;
  ContractionTypes types;  ///< w FP32 where x is not: kSimt and kDepthwise read it so, tensor cores as two halves
  TileShape tile;
  bool transposed = false;    ///< a deconvolution; by phases (phases.h) where not kSimt
  bool channels_last = true;  ///< kSimt: what neighbouring threads read
  int64_t piece = 0;          ///< kMma and kWgmma: bytes of x that lie within a tap and are aligned
  int64_t vec = 1;            ///< kMma and kDepthwise: channels that are stored at once
  int64_t columns = 1;        ///< kDepthwise: pixels of a row that a thread makes
  int64_t kernel_h = 0, kernel_w = 0, stride = 0;  ///< kDepthwise, kStem, kHalo: of a row's step; compiled in
  int64_t pad_channels = 0;                    ///< kMma and kWgmma: a launch in front pads x to so many; 0: none does
  int64_t splits = 1;                          ///< kMma, kWgmma and kIm2col
  int64_t lines = 0, parts = 0, channels = 0;  ///< kStem: rows that a block makes at once, tiles a row; of x
  bool joined = false;   ///< kIm2col and kHalo: x is two tensors, one's channels behind the other's
  bool shuffle = false;  ///< kIm2col: a deconvolution whose kernel is its stride, as one product

  /// w is packed as what half precision keeps of it and what it loses: both are multiplied with the same x.
  bool splits_filter() const {
    return types.is_mixed() &&
           (family == ConvFamily::kMma || family == ConvFamily::kWgmma || family == ConvFamily::kStem);
  }
  std::string name() const;
  static void reflect(auto& self, auto f) {
    f("family", self.family), f("types", self.types), f("tile", self.tile), f("transposed", self.transposed);
    f("channels_last", self.channels_last), f("piece", self.piece), f("vec", self.vec), f("columns", self.columns);
    f("kernel_h", self.kernel_h), f("kernel_w", self.kernel_w), f("stride", self.stride);
    f("pad_channels", self.pad_channels), f("splits", self.splits), f("lines", self.lines), f("parts", self.parts);
    f("channels", self.channels), f("joined", self.joined), f("shuffle", self.shuffle);
  }
  Status check() const;
};
KernelSource source_of(const ConvKernel& kernel, const Epilogue& epilogue);
std::string_view entry_of(const ConvKernel& kernel);
/// Bytes that the addresses of its tensors are aligned to.
int64_t alignment_of(const ConvKernel& kernel);
/// Entry of the launch in front of a kernel that pads channels.
inline constexpr const char* kPadChannels = "pad_channels";
/// Entry of the second launch of a kernel with splits.
inline constexpr const char* kConvReduce = "conv_reduce";

/// Spatial axes in the order depth, height, width; absent ones have extent, kernel and stride 1. Kernels take these
/// structs as they lie here.
struct ConvWindow {
  int32_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1},
          pad[3] = {0, 0, 0};
  int64_t taps() const { return int64_t{kernel[0]} * kernel[1] * kernel[2]; }
  int64_t out_pixels() const { return int64_t{out[0]} * out[1] * out[2]; }
};
struct ConvStrides {
  int64_t n = 0, channel = 0, at[3] = {0, 0, 0};
};
/// Element (group, out channel, in channel, tap) of w lies at group * w_group + out * w_out + in * w_in + tap * w_tap.
struct ConvArguments {
  const void* x = nullptr;
  const void* w = nullptr;
  void* y = nullptr;
  float* partial = nullptr;
  EpilogueArguments epilogue;
  ConvStrides x_strides, y_strides, joined_strides;  ///< the last of the second tensor of x
  int64_t w_group = 0, w_out = 0, w_in = 0, w_tap = 0;
  int64_t y_first = 0;           ///< where the first pixel lies in y; tensor-core kernels only
  int64_t y_pixel = 0;           ///< from pixel to pixel of y; 0 where strides differ
  int64_t tap_y = 0, tap_x = 0;  ///< of y, where columns are taps of tap_columns channels, taps_w a row
  int32_t pixels = 0;            ///< of y, all images together
  int32_t groups = 1, in_channels = 1, out_channels = 1, splits = 1;  ///< channels of one group
  int32_t images = 1, tap_columns = 1, taps_w = 1;
  int32_t joined = 0;  ///< channels of x before those of a second tensor, where there is one
  ConvWindow window;
};

/// Arguments of kPadChannels.
struct PadArguments {
  const void* x = nullptr;
  void* to = nullptr;
  ConvStrides strides;
  int32_t in[3] = {1, 1, 1}, channels = 0;
  int64_t pixels = 0;
};

/// A filter's canonical extents: [out, in / groups, kernel...], or of a deconvolution [in, out / groups, kernel...].
struct FilterExtents {
  int64_t groups = 1, in_channels = 1, out_channels = 1, taps = 1;  ///< channels of one group
  /// Fails where kernels could not count them.
  static Result<FilterExtents> of(std::span<const int64_t> w, int64_t groups, bool transposed);
};
/// How the kernel wants w: true if in an order of its own, which pack_filter makes, else as the plan has it.
bool packs_filter(const ConvKernel& kernel);
/// The elements of a filter in the kernel's order.
Bytes pack_filter(const ConvKernel& kernel, const FilterExtents& filter, std::span<const std::byte> elements);
/// Sets channels, the strides of w and, where it is split, the window's taps.
void set_filter(const ConvKernel& kernel, const FilterExtents& filter, ConvArguments& arguments);

/// How kIm2col reads x: what the driver is asked to encode. Axes are channels, width, height, images.
struct PixelMapPlan {
  int type = 0;
  uint64_t extents[4] = {1, 1, 1, 1}, strides_bytes[3] = {16, 16, 16};
  /// Corners of the first tap's positions, width and height; `upper` from the end.
  int lower[2] = {0, 0}, upper[2] = {0, 0};
  uint32_t channels = 1, pixels = 1, steps[4] = {1, 1, 1, 1};
};

/// The most pixels of y, and the most channels. Kernels round to whole tiles as they count them, in 32 bits.
constexpr int64_t kMostConvRows = (int64_t{1} << 31) - 1024;

/// The launches of a convolution; `main` first, then, where `reduce_vectors` is not 0, kConvReduce.
struct ConvLaunch {
  LaunchShape main, reduce;
  int64_t reduce_vectors = 0;
  int64_t workspace_bytes = 0;
  std::optional<MapPlan> map_w;
  std::optional<PixelMapPlan> map_x, map_x_behind;     ///< the latter where x is two tensors
  std::optional<MapPlan> map_tiles, map_tiles_behind;  ///< of x, where it is read in tiles
  LaunchShape pad;
  PadArguments pad_arguments;  ///< with pixels where the kernel pads
  int64_t padded_bytes = 0;    ///< of the workspace, in front of partial sums
};
/// Sets `arguments.splits` and, where the kernel pads, the strides of what it reads.
Result<ConvLaunch> plan_conv(const ConvKernel& kernel, ConvArguments& arguments, int64_t multiprocessors);

/// Dynamic shared memory of conv/wgmma.cu.
int64_t wgmma_shared_bytes(const ConvKernel& kernel);

/// Whether the channels of x's first tensor, where there are two, are whole lines of the copy engine.
Status require_lines(const ConvKernel& kernel, const ConvArguments& arguments);
/// Turns the arguments of a deconvolution whose kernel equals its stride into those of a matrix product.
Status shuffle_taps(ConvArguments& arguments);
/// plan_conv for kIm2col.
Result<ConvLaunch> plan_im2col(const ConvKernel& kernel, ConvArguments& arguments, int64_t multiprocessors);

/// The tensor map of a filter in the order of kIm2col and kHalo; axes are channels, taps, out channels.
MapPlan map_of_weights(const ConvKernel& kernel, const ConvArguments& arguments, int64_t box_columns);
/// Whether kHalo can have such a filter, and its parameters are sound.
bool takes_halo(const ConvKernel& kernel, const FilterExtents& filter);
/// plan_conv for kHalo.
Result<ConvLaunch> plan_halo(const ConvKernel& kernel, ConvArguments& arguments, int64_t multiprocessors);
/// Whether kStem can have such a filter, and its parameters are sound.
bool takes_stem(const ConvKernel& kernel, const FilterExtents& filter);
/// plan_conv and pack_filter for kStem.
Result<ConvLaunch> plan_stem(const ConvKernel& kernel, ConvArguments& arguments, int64_t multiprocessors);
Bytes pack_stem(const ConvKernel& kernel, const FilterExtents& filter, std::span<const std::byte> elements);

/// Facts about a convolution that a kernel may assume, and its extents at the optimum.
struct ConvTraits {
  ContractionTypes types;
  FilterExtents filter;
  bool constant_filter = true, tf32 = false, transposed = false;
  int64_t pixels = 1;                              ///< of y, all images together
  int64_t phases = 0;                              ///< of a deconvolution that has them
  int64_t kernel_h = 0, kernel_w = 0, stride = 0;  ///< of pictures without dilation; else 0
  int64_t stride_h = 0, out_h = 0, out_w = 0;      ///< of such pictures
  bool pictures = false;                           ///< of at most two axes, and what a window reaches fits tensor maps
  bool joined = false;                             ///< x is two tensors, lines of channels and more behind them
  bool abutting = false;                           ///< a deconvolution whose kernel is its stride, without pads

  int64_t vec() const;  ///< channels of y that are whole vectors of at most 16 bytes, in every group
  /// The common part of a family's kernels for such a convolution, whatever their tile.
  ConvKernel kernel_of(ConvFamily family) const;
};
struct ConvCandidate {
  ConvKernel kernel;
  double estimate_us;
};
/// Candidates of kHalo.
std::vector<ConvCandidate> halo_candidates(const ConvTraits& traits, const Machine& machine);
/// Candidates of kStem.
std::vector<ConvCandidate> stem_candidates(const ConvTraits& traits, const Machine& machine);
/// Candidates of kIm2col.
std::vector<ConvCandidate> im2col_candidates(const ConvTraits& traits, const Machine& machine);
/// Kernels worth timing, the likeliest first; kSimt, channels last and first, always among them.
std::vector<ConvCandidate> conv_candidates(const ConvTraits& traits, const Machine& machine);

}  // namespace kiln::cuda
