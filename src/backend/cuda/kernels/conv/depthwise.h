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
  /// Threads that are needed, each of which makes so many rows.
  int64_t items(const ConvArguments& arguments, int64_t rows = 1) const;
  /// The launch of a kernel that counts threads in 32 bits. Fails where it cannot.
  static Result<ConvLaunch> plan_of_pictures(const ConvArguments& arguments, int64_t threads, int64_t multiprocessors);
};

/// depthwise/depthwise.cu
struct ConvDepthwise final : ConvDepthwiseBase {
  bool channels_last = true;  ///< what neighbouring threads read

  ConvDepthwise() : ConvDepthwiseBase(kConvDepthwise) {}
  static void reflect(auto& self, auto f) {
    ConvDepthwiseBase::reflect(self, f), f("channels_last", self.channels_last);
  }
  std::string name() const override;
  ConvFacts facts() const override { return {.channels_last = channels_last, .pads_with_zero = true}; }
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

/// depthwise/bytes.cu: bytes of pictures, channels last, by words of four taps. `vec` is 4.
struct ConvDepthwiseBytes final : ConvDepthwiseBase {
  int64_t rows = 1;  ///< of y that a thread makes
  int64_t kernel_h = 1, kernel_w = 1, stride = 1;
  int64_t stride_h = 1;  ///< 1 where a thread makes one row

  ConvDepthwiseBytes() : ConvDepthwiseBase(kConvDepthwiseBytes) { vec = 4; }
  static void reflect(auto& self, auto f) {
    ConvDepthwiseBase::reflect(self, f), f("rows", self.rows), f("kernel_h", self.kernel_h);
    f("kernel_w", self.kernel_w), f("stride", self.stride), f("stride_h", self.stride_h);
  }
  std::string name() const override;
  Status check_own() const override;
  ConvFacts facts() const override { return {.pads_with_zero = true}; }
  bool takes(const FilterExtents& filter) const override;
  /// Words of four taps: [row of taps][position][word of a row][channel].
  Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const override;
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const override;

  static constexpr int64_t kMostTaps = 49;  ///< the text would be too long
  int64_t moves() const;                    ///< positions that taps have in their words
  int64_t words() const;                    ///< of a row of taps
};

}  // namespace kiln::cuda
