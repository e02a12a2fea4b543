#include "backend/cuda/kernels/conv/simt.h"

namespace kiln::cuda {

std::string ConvSimt::name() const {
  return str(transposed ? "gather simt " : "simt ", tile.name(), channels_last ? "" : ", channels first",
             types.is_mixed() ? ", w in f32" : "");
}

Status ConvSimt::check_own() const {
  TRY(tile.require_whole());
  return require(tile.warps_m == 0, "a convolution by plain FMA cannot have the tile ", tile.name(),
                 ", which warps share");
}

ConvFacts ConvSimt::facts() const {
  return {.transposed = transposed, .channels_last = channels_last, .any_order = true, .packs_filter = false};
}

void ConvSimt::set_filter(const FilterExtents& f, ConvArguments& arguments) const {
  ConvParameters::set_filter(f, arguments);
  arguments.w_group = f.out_channels * f.in_channels * f.taps;
  arguments.w_out = transposed ? f.taps : f.in_channels * f.taps;
  arguments.w_in = transposed ? f.out_channels * f.taps : f.taps;
  arguments.w_tap = 1;
}

Result<ConvLaunch> ConvSimt::plan(ConvArguments& a, int64_t multiprocessors) const {
  TRY(require_countable(a));
  ConvLaunch launch;
  TRY(set_conv_grid(launch.main, ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn) * a.groups,
                    tile.threads(), multiprocessors));
  return launch;
}

const ConvFamily kConvSimt = conv_family<ConvSimt>("simt", "conv_simt", FloatWeights::kRead);

}  // namespace kiln::cuda
