#include "backend/cuda/kernels/conv/im2col.h"

#include <cstring>

namespace kiln::cuda {
namespace {

Result<PixelMapPlan> map_of_pixels(const ConvIm2col& kernel, const ConvArguments& a, int64_t channels,
                                   const ConvStrides& x) {
  const ConvWindow& w = a.window;
  PixelMapPlan map;
  map.type = map_type(kernel.types.a);
  map.extents[0] = static_cast<uint64_t>(channels);
  map.extents[1] = static_cast<uint64_t>(w.in[2]);
  map.extents[2] = static_cast<uint64_t>(w.in[1]);
  map.extents[3] = static_cast<uint64_t>(a.images);
  std::ranges::copy(TRY(pixel_strides(kernel.types.a, x)), map.strides_bytes);
  for (size_t i = 0; i < 2; ++i) {  // width, height
    const size_t axis = 2 - i;
    map.lower[i] = -w.pad[axis];
    map.upper[i] = (w.out[axis] - 1) * w.stride[axis] + 1 - w.pad[axis] - w.in[axis];
    map.steps[1 + i] = static_cast<uint32_t>(w.stride[axis]);
    const int reach = w.dilation[axis] * (w.kernel[axis] - 1);
    TRY(require(map.lower[i] >= -128 && map.lower[i] <= 127 && map.upper[i] >= -128 && map.upper[i] <= 127 &&
                    reach <= 255 && w.stride[axis] <= 8,
                "a window from ", map.lower[i], " to ", map.upper[i],
                " of a picture exceeds the limits of tensor maps"));
  }
  map.channels = static_cast<uint32_t>(kernel.tile.bk);
  if (kernel.line_bytes() < kLineBytes) map.swizzle = kSwizzle64;
  map.pixels = static_cast<uint32_t>(kernel.tile.bm);
  return map;
}

}  // namespace

std::string ConvIm2col::name() const {
  return str("im2col ", tile.name(), " in ", tile.stages, splits > 1 ? str(", k in ", splits) : "",
             shuffle ? ", shuffled" : "", lanes ? ", by lanes" : "");
}

Status ConvIm2col::check_own() const {
  TRY(check_tile(lanes ? 16 : 8));
  TRY(require(!shuffle || transposed, "only a deconvolution can shuffle taps"));
  TRY(require(line_bytes() == kLineBytes || line_bytes() == kLineBytes / 2, "a convolution's stages have lines of ",
              line_bytes(), " bytes; kernels swizzle ", kLineBytes, " or half"));
  TRY(require(!lanes || (splits == 1 && !transposed && !joined && vec >= 4 && tile.bn % (4 * vec) == 0 &&
                         read_bytes >= 0 && read_bytes <= 64),
              "the convolution kernel '", name(), "' cannot have vectors of ", vec, " in lanes, and read ", read_bytes,
              " bytes a result"));
  return require_range(splits, 1, 64, "splits");
}

/// Weights that come interleaved are read in whole lines.
bool ConvIm2col::takes(const FilterExtents& f) const {
  return ConvTiled::takes(f) && (!lanes || (f.out_channels % (4 * vec) == 0 && f.in_channels % tile.bk == 0));
}

int64_t ConvIm2col::shared_bytes() const {
  if (lanes) return tile.stages * (tile.bm + tile.bn) * line_bytes() + kStageAlignment + tile.bm * tile.bn * read_bytes;
  const int64_t slabs = (tile.bm >= 128 ? 8 : 4) * slab_bytes(std::min<int64_t>(tile.bn, 32));
  return tile.stages * (tile.bm + tile.bn) * line_bytes() + kStageAlignment +
         (splits > 1 ? exchange_bytes(tile.bm, tile.bn, splits) : slabs);
}

/// Shuffled taps are columns of their own, in front of out channels.
Bytes ConvIm2col::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  if (!shuffle) return ConvTiled::pack(f, elements);
  const auto size = static_cast<size_t>(bytes_of(types.b));
  const int64_t pitch = packed_pitch(f), outs = f.groups * f.out_channels;
  Bytes packed(static_cast<size_t>(f.taps * outs * pitch) * size);
  const std::byte* from = elements.data();
  for (int64_t in = 0; in < f.in_channels; ++in)
    for (int64_t out = 0; out < outs; ++out)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += size)
        std::memcpy(packed.data() + static_cast<size_t>((tap * outs + out) * pitch + in) * size, from, size);
  return packed;
}

Status shuffle_taps(ConvArguments& a) {
  ConvWindow& w = a.window;
  TRY(require(w.kernel[0] == 1 && w.in[0] == 1, "a deconvolution of three axes cannot shuffle taps"));
  a.tap_columns = a.out_channels;
  a.taps_w = w.kernel[2];
  a.tap_y = a.y_strides.at[1];
  a.tap_x = a.y_strides.at[2];
  TRY(require(a.out_channels < (int64_t{1} << 31) / w.taps(), "a deconvolution has ", w.taps(), " taps of ",
              a.out_channels, " channels; kernels count to 2^31"));
  a.out_channels *= static_cast<int32_t>(w.taps());
  a.w_tap = a.w_out;  // there is one
  for (size_t axis = 0; axis < 3; ++axis) {
    TRY(require(w.out[axis] == int64_t{w.in[axis]} * w.stride[axis], "a deconvolution of extent ", w.in[axis],
                " and stride ", w.stride[axis], " cannot make ", w.out[axis], " when it shuffles taps"));
    a.y_strides.at[axis] *= w.stride[axis];
    w.out[axis] = w.in[axis];
    w.kernel[axis] = w.stride[axis] = w.dilation[axis] = 1;
    w.pad[axis] = 0;
  }
  a.pixels = static_cast<int32_t>(a.images * w.out_pixels());
  return {};
}

Result<ConvLaunch> ConvIm2col::plan(ConvArguments& a, int64_t multiprocessors) const {
  const int64_t steps = a.window.taps() * ceil_div(a.in_channels, tile.bk);
  TRY(require(a.groups == 1 && a.window.kernel[0] == 1 && a.window.in[0] == 1 && steps >= splits, "a convolution of ",
              a.groups, " groups and ", steps, " steps cannot be shared by clusters of ", splits));
  ConvLaunch launch;
  const int64_t tiles = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn);
  TRY(set_conv_grid(launch.main, splits > 1 ? tiles * splits : std::min(tiles, multiprocessors),
                    std::min<int64_t>(2 * tile.bm, 256) + 128, multiprocessors));
  launch.main.cluster = static_cast<uint32_t>(splits);
  launch.main.shared_bytes = static_cast<uint32_t>(shared_bytes());
  if (tiles == 0) return launch;
  const ConvStrides& y = a.y_strides;
  const ConvWindow& w = a.window;
  const bool dense = y.at[1] == w.out[2] * y.at[2] && (a.images == 1 || y.n == w.out[1] * y.at[1]);
  a.y_pixel = dense && !shuffle ? y.at[2] : 0;
  launch.map_w = map_of_weights(*this, a, tile.bn);
  if (lanes) {
    TRY(require(a.y_pixel != 0 && a.w_tap == a.in_channels,
                "the convolution's pixels do not lie one behind the other, as lanes write them"));
    launch.map_w = interleaved_map_of(types.a, a.window.taps() * a.in_channels, a.out_channels, a.w_out, tile.bn, vec);
  }
  if (line_bytes() < kLineBytes) read_short_lines(*launch.map_w, types.a);
  const int64_t first = TRY(first_channels(*this, joined, a));
  launch.map_x = TRY(map_of_pixels(*this, a, first, a.x_strides));
  if (joined) launch.map_x_behind = TRY(map_of_pixels(*this, a, a.in_channels - first, a.joined_strides));
  return launch;
}

const ConvFamily kConvIm2col =
    conv_family<ConvIm2col>("im2col", "conv_im2col", FloatWeights::kNone, /*takes_bytes=*/true);

}  // namespace kiln::cuda
