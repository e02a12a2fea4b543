/// A shift, a scale and a power of each element, by coefficients for all, for a channel or for an element.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace kiln::ops {

/// The elements that share a coefficient; TensorRT's ScaleMode.
enum class ScaleMode : int32_t {
  kUniform,     ///< all: one coefficient
  kChannel,     ///< those of one index of `channel_axis`: one coefficient a channel
  kElementwise  ///< those that differ only in axes before `channel_axis`: as many as the axes from it on have elements
};
std::span<const std::string_view> enum_names(ScaleMode);

/// y = (x * scale + shift) ^ power; an absent shift is 0, scale 1, power 1.
///   in   x                      f32, f16, bf16 or f64
///        shift?, scale?, power? float, of any shape with the mode's number of elements, in row-major order
///   out  y                      x's type and shape
struct Scale {
  static constexpr std::string_view name = "Scale";
  static constexpr Trait traits = Trait::kDecomposed;
  static constexpr int min_inputs = 1, max_inputs = 4;
  ScaleMode mode = ScaleMode::kUniform;
  int channel_axis = 1;  ///< of x; negative counts from the back; unused by kUniform
  static void reflect(auto& self, auto f) {
    f("mode", self.mode);
    f("channel_axis", self.channel_axis);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
