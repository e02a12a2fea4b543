#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// conv/im2col.cu: sm_90a, one group; the copy engine reads pictures whose pixels are whole 16 bytes. Splits are blocks
/// of a cluster.
struct ConvIm2col final : ConvTiled {
  bool transposed = false;
  int64_t splits = 1;
  bool joined = false;     ///< x is two tensors, one's channels behind the other's
  bool shuffle = false;    ///< a deconvolution whose kernel is its stride, as one product
  bool lanes = false;      ///< weights come interleaved, so that lanes have `vec` neighbours (gemm/lanes.cuh)
  int64_t read_bytes = 0;  ///< of those with lanes: that the epilogue reads for a result, beside what channels share

  ConvIm2col() : ConvTiled(kConvIm2col) {}
  static void reflect(auto& self, auto f) {
    ConvTiled::reflect(self, f), f("transposed", self.transposed), f("splits", self.splits), f("joined", self.joined);
    f("shuffle", self.shuffle), f("lanes", self.lanes), f("read_bytes", self.read_bytes);
  }
  std::string name() const override;
  Status check_own() const override;
  bool takes(const FilterExtents& filter) const override;
  ConvFacts facts() const override { return {.transposed = transposed, .joined = joined, .shuffle = shuffle}; }
  Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
  int64_t shared_bytes() const;                                       ///< dynamic
  int64_t line_bytes() const { return tile.bk * bytes_of(types.a); }  ///< of channels a stage
};

}  // namespace kiln::cuda
