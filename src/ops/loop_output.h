/// A value that leaves a loop.
#pragma once

#include <array>

#include "ops/op.h"

namespace kiln {

/// nvinfer1::LoopOutput.
enum class LoopOutputKind : int32_t {
  kLastValue,    ///< of a recurrence, after the last iteration
  kConcatenate,  ///< the values of all iterations along a new axis
  kReverse       ///< the same, the last iteration first
};
inline std::span<const std::string_view> enum_names(LoopOutputKind) {
  static constexpr std::array<std::string_view, 3> kNames = {"last_value", "concatenate", "reverse"};
  return kNames;
}

}  // namespace kiln

namespace kiln::ops {

/// What the loop `group` gives of x to those outside.
///   in   x       any type; kLastValue: the output of a recurrence of the loop
///        length  i32 or i64, one element, on the host, from outside the loop: the extent of the new axis, which is at
///                least the number of iterations. Elements beyond them are 0. Absent for kLastValue
///   out  y       x's type; kLastValue: its shape, else with a new axis at `axis`
struct LoopOutput {
  static constexpr std::string_view name = "LoopOutput";
  static constexpr int min_inputs = 1, max_inputs = 2;
  static constexpr uint32_t host_inputs = 1 << 1;
  int group = 0;
  LoopOutputKind kind = LoopOutputKind::kLastValue;
  int axis = 0;  ///< of y; negative counts from the back. Not read by kLastValue
  static void reflect(auto& self, auto f) { f("group", self.group), f("kind", self.kind), f("axis", self.axis); }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
