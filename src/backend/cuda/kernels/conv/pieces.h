#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// A kernel of tensor cores whose threads copy x in pieces, tap by tap.
struct ConvPieces : ConvTiled {
  bool transposed = false;   ///< by phases
  int64_t piece = 16;        ///< bytes of x that lie within a tap and are aligned
  int64_t pad_channels = 0;  ///< a launch in front pads x to so many; 0: none does
  int64_t splits = 1;

  using ConvTiled::ConvTiled;
  static void reflect(auto& self, auto f) {
    ConvTiled::reflect(self, f), f("transposed", self.transposed), f("piece", self.piece);
    f("pad_channels", self.pad_channels), f("splits", self.splits);
  }
  Status check_own() const override;
  ConvFacts facts() const override;
  int64_t alignment() const override { return std::max(piece, conv_vector_bytes(vec)); }
  bool takes(const FilterExtents& filter) const override;
  Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const override;
  void set_filter(const FilterExtents& filter, ConvArguments& arguments) const override;

 protected:
  std::string name_of(std::string_view units) const;
  /// The launch in front, where there is one: what comes behind reads dense pixels. Fails where kernels cannot count
  /// what they read.
  Result<ConvLaunch> plan_padding(ConvArguments& arguments) const;
};

/// conv/mma.cu: tensor cores since sm_80; splits go through memory.
struct ConvMma final : ConvPieces {
  ConvMma() : ConvPieces(kConvMma) {}
  std::string name() const override;
  ConvFacts facts() const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
};

/// conv/wgmma.cu: sm_90a, one group; splits are blocks of a cluster.
struct ConvWgmma final : ConvPieces {
  ConvWgmma() : ConvPieces(kConvWgmma) {}
  std::string name() const override { return name_of("wgmma "); }
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
  int64_t shared_bytes() const;  ///< dynamic
};

}  // namespace kiln::cuda
