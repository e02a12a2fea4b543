/// How far a tensor may be off.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "kiln/diff/errors.h"

namespace kiln::diff {

/// An element may be off by `absolute` plus `relative` times the largest magnitude of the true tensor.
struct Tolerance {
  double relative = 0, absolute = 0;

  double limit(const Errors& errors) const { return absolute + relative * errors.largest; }
  bool takes(const Errors& errors) const { return errors.broken == 0 && errors.max_abs <= limit(errors); }
  bool operator==(const Tolerance&) const = default;
};

/// The coarsest numbers that a network computes in.
enum class Precision { kFloat, kHalf, kBfloat, kBytes };

/// What is allowed by default: for floats 1e-3 of the largest (products by TF32 and weights in half count as FP32), in
/// FP16 2e-2, in BF16 and through bytes 1e-1.
Tolerance default_tolerance(Precision precision);

/// "1e-3/1e-5": relative and absolute; "1e-3": the absolute one is 0. Fails at what is no such text.
Result<Tolerance> parse_tolerance(std::string_view text);

std::string text_of(const Tolerance& tolerance);  ///< "0.001 of the largest + 1e-06"

}  // namespace kiln::diff
