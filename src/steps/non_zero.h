#pragma once

#include "ops/non_zero.h"
#include "steps/step.h"

namespace kiln::steps {

/// Coordinates of the elements that are not zero, row-major. Input: x. Output: indices, as many as fit its extents.
struct NonZero {
  static constexpr std::string_view name = "non_zero";
  static constexpr StepTensors tensors{.present = 1, .least_inputs = 1, .most_inputs = 1, .outputs = 1, .sizes = 1};

  ops::NonZero op;

  static void reflect(auto& self, auto f) { f("op", self.op); }
  Status check(const StepTypes& types) const;
  Status check(const StepTypes& types, const StepShapes& shapes) const;
};

}  // namespace kiln::steps

namespace kiln {

/// The bits of an element that are all 0 where it is zero: of a float all but the sign. 0 for types without kernels.
constexpr uint64_t value_bits(DType t) {
  switch (t) {
    case DType::kBool:
    case DType::kI8:
    case DType::kU8: return 0xff;
    case DType::kF16:
    case DType::kBF16: return 0x7fff;
    case DType::kI32: return 0xffff'ffff;
    case DType::kF32: return 0x7fff'ffff;
    case DType::kF64: return ~uint64_t{0} >> 1;
    case DType::kI64: return ~uint64_t{0};
    default: return 0;
  }
}

}  // namespace kiln
