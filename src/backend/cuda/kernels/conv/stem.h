#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// conv/stem.cu: sm_90a, pictures of few channels to channels last.
struct ConvStem final : ConvTiled {
  static constexpr int64_t kGroups = 2, kLoaders = 256, kMostSums = 160, kStages = 2;
  int64_t kernel_h = 1, kernel_w = 1, stride = 1;  ///< the last of a row's step
  int64_t lines = 1, parts = 1;                    ///< rows that a block makes at once, tiles a row
  int64_t channels = 1;                            ///< of x
  bool pairs = false;  ///< sums become bytes in the registers, rows of weights are in that order (byte_columns.cuh)

  ConvStem() : ConvTiled(kConvStem) {}
  static void reflect(auto& self, auto f) {
    ConvTiled::reflect(self, f), f("kernel_h", self.kernel_h), f("kernel_w", self.kernel_w);
    f("stride", self.stride), f("lines", self.lines), f("parts", self.parts), f("channels", self.channels),
        f("pairs", self.pairs);
  }
  std::string name() const override;
  Status check_own() const override;
  ConvFacts facts() const override { return {.reads_pictures = true}; }
  int64_t alignment() const override { return conv_vector_bytes(vec); }
  bool takes(const FilterExtents& filter) const override;
  Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;

  /// As the kernel's text has them.
  struct Sizes {
    int64_t pixel_bytes, steps, terms, weight_bytes, stage_bytes, shared_bytes;
  };
  Sizes sizes() const;
};

}  // namespace kiln::cuda
