#pragma once

#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// An input channel an output channel: w is packed as taps of channels.
struct ConvDepthwiseBase : ConvParameters {
  int64_t vec = 1;      ///< channels that are stored at once
  int64_t columns = 1;  ///< pixels of a row that a thread makes
  using ConvParameters::ConvParameters;
  static void reflect(auto& self, auto f) {
    ConvParameters::reflect(self, f), f("vec", self.vec), f("columns", self.columns);
  }
  Status check_own() const override;
  int64_t alignment() const override { return conv_vector_bytes(vec); }
  bool takes(const FilterExtents& filter) const override;
  Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const override;

 protected:
  static constexpr int64_t kThreads = 128;
  std::string name_of(std::string_view kind, std::string_view order) const;
  /// Threads that are needed.
  int64_t items(const ConvArguments& arguments) const;
};

/// depthwise/depthwise.cu
struct ConvDepthwise final : ConvDepthwiseBase {
  bool channels_last = true;  ///< what neighbouring threads read

  ConvDepthwise() : ConvDepthwiseBase(kConvDepthwise) {}
  static void reflect(auto& self, auto f) {
    ConvDepthwiseBase::reflect(self, f), f("channels_last", self.channels_last);
  }
  std::string name() const override;
  ConvFacts facts() const override { return {.channels_last = channels_last}; }
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
};

/// depthwise/rows.cu: the same with its window compiled in, for pictures, channels last.
struct ConvDepthwiseRows final : ConvDepthwiseBase {
  int64_t kernel_h = 1, kernel_w = 1, stride = 1;  ///< the last of a row's step

  ConvDepthwiseRows() : ConvDepthwiseBase(kConvDepthwiseRows) {}
  static void reflect(auto& self, auto f) {
    ConvDepthwiseBase::reflect(self, f), f("kernel_h", self.kernel_h), f("kernel_w", self.kernel_w);
    f("stride", self.stride);
  }
  std::string name() const override { return name_of("depthwise rows", ""); }
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;
};

}  // namespace kiln::cuda
