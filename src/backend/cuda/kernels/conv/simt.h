#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// conv/simt.cu: plain FMA, any strides and groups, transposed too.
struct ConvSimt final : ConvParameters {
  TileShape tile{64, 64, 16, 0, 0, 4, 4, 0};
  bool transposed = false;
  bool channels_last = true;  ///< what neighbouring threads read

  ConvSimt() : ConvParameters(kConvSimt) {}
  static void reflect(auto& self, auto f) {
    ConvParameters::reflect(self, f), f("tile", self.tile), f("transposed", self.transposed);
    f("channels_last", self.channels_last);
  }
  std::string name() const override;
  Status check_own() const override;
  ConvFacts facts() const override;
  int64_t alignment() const override { return 1; }
  bool takes(const FilterExtents&) const override { return true; }
  void set_filter(const FilterExtents& filter, ConvArguments& arguments) const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
};

}  // namespace kiln::cuda
