#include "backend/cuda/kernels/conv/pieces.h"

namespace kiln::cuda {

std::string ConvMma::name() const { return name_of(types.a == DType::kF32 ? "tf32 " : "mma "); }

ConvFacts ConvMma::facts() const {
  ConvFacts facts = ConvPieces::facts();
  facts.sums_parts = splits > 1;
  return facts;
}

Result<ConvLaunch> ConvMma::plan(ConvArguments& a, int64_t multiprocessors) const {
  ConvLaunch launch = TRY(plan_padding(a));
  const int64_t steps = ceil_div(a.window.taps() * a.in_channels, tile.bk);
  a.splits = static_cast<int32_t>(std::max<int64_t>(1, std::min(splits, steps)));
  launch.main.shared_bytes = mma_shared_bytes(tile, types.a);
  const int64_t tiles = ceil_div(a.pixels, tile.bm) * ceil_div(a.out_channels, tile.bn);
  TRY(set_conv_grid(launch.main, tiles * a.groups * a.splits, tile.threads(), multiprocessors));
  if (splits > 1) {  // the kernel only writes partial sums, even where one split is left
    const int64_t sums = a.pixels * int64_t{a.groups} * a.out_channels;
    launch.reduce_vectors = sums / vec;
    launch.workspace_bytes += sums * a.splits * 4;
    TRY(set_conv_grid(launch.reduce, ceil_div(launch.reduce_vectors, 256), 256, multiprocessors));
  }
  return launch;
}

const ConvFamily kConvMma = conv_family<ConvMma>("mma", "conv_mma", FloatWeights::kSplit, /*takes_bytes=*/true);

}  // namespace kiln::cuda
