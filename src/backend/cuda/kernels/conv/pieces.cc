#include "backend/cuda/kernels/conv/pieces.h"

#include "tensor/view.h"

namespace kiln::cuda {

std::string ConvPieces::name_of(std::string_view units) const {
  return str(units, tile.name(), " in ", tile.stages, splits > 1 ? str(", k in ", splits) : "",
             piece == 16 ? "" : str(", pieces of ", piece, " bytes"), pad_channels ? ", padded" : "",
             splits_filter() ? ", w in two" : "");
}

Status ConvPieces::check_own() const {
  TRY(ConvTiled::check_own());
  TRY(require_range(pad_channels, 0, 8, "channels padded to"));
  TRY(require(!transposed || pad_channels == 0, "a deconvolution cannot pad x to ", pad_channels, " channels"));
  TRY(require_width(piece, 16, "bytes a piece"));
  return require_range(splits, 1, 64, "splits");
}

ConvFacts ConvPieces::facts() const {
  return {.transposed = transposed, .reads_pictures = pad_channels > 0, .pad_channels = pad_channels};
}

bool ConvPieces::takes(const FilterExtents& f) const {
  return ConvTiled::takes(f) && channels_read(f) * bytes_of(types.a) % piece == 0 &&
         (pad_channels == 0 || pad_channels >= f.in_channels);
}

/// Packs w. If w is split, it has twice the taps: those of the second halves stand behind the others, and read the same
/// pixels.
Bytes ConvPieces::pack(const FilterExtents& f, std::span<const std::byte> elements) const {
  if (!splits_filter()) return ConvTiled::pack(f, elements);
  const int64_t pitch = packed_pitch(f), channels = channels_read(f);
  Bytes packed(static_cast<size_t>(f.groups * f.out_channels * pitch * bytes_of(types.a)));
  const std::byte* from = elements.data();
  for (int64_t out = 0; out < f.groups * f.out_channels; ++out)
    for (int64_t in = 0; in < f.in_channels; ++in)
      for (int64_t tap = 0; tap < f.taps; ++tap, from += sizeof(float)) {
        const int64_t to = out * pitch + tap * channels + in;
        store_split(types.a, load_number(DType::kF32, from, 0), packed.data(), to, to + f.taps * channels);
      }
  return packed;
}

void ConvPieces::set_filter(const FilterExtents& f, ConvArguments& arguments) const {
  ConvTiled::set_filter(f, arguments);
  if (!splits_filter()) return;
  arguments.window.kernel[0] = 2;  // a second plane of taps, as deep as the first
  arguments.window.dilation[0] = 0;
}

Result<ConvLaunch> ConvPieces::plan_padding(ConvArguments& a) const {
  TRY(require_countable(a));
  ConvLaunch launch;
  if (pad_channels) {
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
    launch.padded_bytes = ceil_div(pad.pixels * pad_channels * bytes_of(types.a), 256) * 256;
    launch.workspace_bytes = launch.padded_bytes;
    const int64_t row = a.window.in[2] * pad_channels;
    a.x_strides = {in_pixels * pad_channels, 1, {a.window.in[1] * row, row, pad_channels}};
  }
  const int64_t reach = int64_t{a.images} * a.x_strides.n;
  TRY(require(reach < (int64_t{1} << 31), "a convolution reads ", reach, " elements; this kernel counts to 2^31"));
  return launch;
}

}  // namespace kiln::cuda
