#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// conv/halo.cu: sm_90a, pictures of few channels, channels last, stride 1: weights stay in the block.
struct ConvHalo final : ConvTiled {
  static constexpr int64_t kGroups = 2;
  int64_t kernel_h = 1, kernel_w = 1;
  bool joined = false;  ///< x is two tensors, one's channels behind the other's

  ConvHalo() : ConvTiled(kConvHalo) {}
  static void reflect(auto& self, auto f) {
    ConvTiled::reflect(self, f), f("kernel_h", self.kernel_h), f("kernel_w", self.kernel_w), f("joined", self.joined);
  }
  std::string name() const override;
  ConvFacts facts() const override { return {.joined = joined}; }
  bool takes(const FilterExtents& filter) const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;

  int64_t line() const { return kLineBytes / bytes_of(types.a); }  ///< channels of a line of the copy engine
  /// A block's, with barriers that lie in front of an alignment.
  int64_t all_shared_bytes(int64_t in_channels) const { return shared_bytes(in_channels) + kBarrierBytes; }
  int64_t tiles(int64_t images, int64_t high, int64_t wide) const {
    return images * ceil_div(high, tile.bn / 8) * ceil_div(wide, 8);
  }

 private:
  static constexpr int64_t kBarrierBytes = 2048;
  int64_t shared_bytes(int64_t in_channels) const;
  Result<MapPlan> map_of_tiles(const ConvArguments& a, int64_t channels, const ConvStrides& x) const;
};

}  // namespace kiln::cuda
