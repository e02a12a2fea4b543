#include "backend/cuda/kernels/conv/stem.h"

#include <cstring>

#include "tensor/view.h"

namespace kiln::cuda {

std::string ConvStem::name() const {
  return str("stem ", tile.bm, "x", tile.bn, ", ", lines, " lines of ", parts, splits_filter() ? ", w in two" : "",
             pairs ? ", by pairs" : "");
}

Status ConvStem::check_own() const {
  TRY(ConvTiled::check_own());
  return require(!pairs || bits_of(types.out) == 8, "a first layer makes ", types.out, "; bytes leave it by pairs");
}

ConvStem::Sizes ConvStem::sizes() const {
  Sizes s{};
  s.pixel_bytes = 16 / stride;
  s.steps = ceil_div(kernel_w * s.pixel_bytes, 32);
  s.terms = splits_filter() ? 2 : 1;
  s.weight_bytes = s.terms * kernel_h * s.steps * 32 * tile.bm;
  const int64_t wide = (tile.bn * parts * stride + s.steps * 32 / s.pixel_bytes + 1) / 2 * 2;
  s.stage_bytes = ((lines - 1) * stride + kernel_h) * wide * s.pixel_bytes;
  const int64_t byte_pixels = tile.bn * (tile.bm + 16);
  s.shared_bytes = s.weight_bytes + kStages * s.stage_bytes + kGroups * (pairs ? byte_pixels : 2 * kChunkBytes);
  return s;
}

bool ConvStem::takes(const FilterExtents& f) const {
  return ConvTiled::takes(f) && is_within(lines, 16) && is_within(parts, 16) && is_within(stride, 2) &&
         is_within(kernel_h, 16) && is_within(kernel_w, 16) && has_all_channels(f, kMostSums) &&
         tile.stages == kStages && bits_of(types.a) <= 16 && f.taps == kernel_h * kernel_w &&
         f.in_channels == channels && (!pairs || f.out_channels % 16 == 0) &&
         f.in_channels <= 16 / stride / bytes_of(types.a) && sizes().shared_bytes <= kMostSharedBytes;
}

Bytes ConvStem::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  const int64_t size = bytes_of(types.a), piece = 16 / size;
  const Sizes s = sizes();
  const int64_t read = bytes_of(types.b), term = s.weight_bytes / s.terms / size;
  const int64_t pixel = s.pixel_bytes / size, row = s.steps * 32 / size;
  Bytes packed(static_cast<size_t>(s.weight_bytes));
  const std::byte* from = elements.data();
  for (int64_t out = 0; out < f.out_channels; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += read) {
        const int64_t k = tap / kernel_w * row + tap % kernel_w * pixel + in;
        const int64_t line = pairs ? out / 16 * 16 + out % 2 * 8 + out % 16 / 2 : out;
        const int64_t to = (k / piece * tile.bm + line) * piece + k % piece;
        if (splits_filter())
          store_split(types.a, load_number(DType::kF32, from, 0), packed.data(), to, to + term);
        else
          std::memcpy(packed.data() + to * size, from, static_cast<size_t>(size));
      }
  return packed;
}

Result<ConvLaunch> ConvStem::plan(ConvArguments& a, int64_t multiprocessors) const {
  const ConvWindow& w = a.window;
  const int64_t down = w.out[1] == 1 ? w.stride[1] : stride;  // a single row, as in 1D, has no row below it
  TRY(require(is_picture_window(w, kernel_h, kernel_w, down, stride),
              "the convolution's window is not the one that the kernel was compiled for"));
  const int64_t reach = int64_t{w.in[1]} * w.in[2] * a.in_channels;
  TRY(require(reach < (int64_t{1} << 31), "a convolution reads ", reach, " elements; this kernel counts to 2^31"));
  const int64_t turns = ceil_div(w.out[2], tile.bn * parts) * ceil_div(w.out[1], lines) * a.images;
  ConvLaunch launch;
  launch.main.grid[0] = grid_blocks(std::min(turns, multiprocessors));
  launch.main.pdl = true;
  launch.main.block[0] = 128 * kGroups + kLoaders;
  launch.main.shared_bytes = static_cast<uint32_t>(sizes().shared_bytes);
  return launch;
}

const ConvFamily kConvStem = conv_family<ConvStem>("stem", "conv_stem", FloatWeights::kSplit, /*takes_bytes=*/true);

}  // namespace kiln::cuda
