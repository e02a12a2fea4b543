/// Discrete Fourier transforms composed of ops.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// A transform of `samples` complex or real numbers, those behind which, up to `length`, are 0.
struct Transform {
  sym::Expr length, samples, outputs;
  int64_t parts;  ///< 1: real numbers; 2: complex ones
  bool inverse;
};

/// Transforms [..., samples, parts] to [..., outputs, 2]. A product with a matrix of cosines and sines where that is
/// small, or where extents are not known; otherwise a transform of N * M numbers is N of M and M of N (Cooley and
/// Tukey), and one of a prime length a convolution by longer ones (Bluestein).
Result<ValueId> transformed(ImportContext& cx, ValueId x, const Transform& by);

}  // namespace kiln::onnx
