#pragma once

#include "backend/cuda/kernels/nest/arguments.h"

namespace kiln::cuda {

/// A group is `length` elements: element i lies at i / inner * run_stride + i % inner from the group's first.
struct NormalizationArgument {
  const void *x = nullptr, *scale = nullptr, *bias = nullptr;
  void* y = nullptr;
  float* parts = nullptr;  ///< a mean and a sum of squared differences a chunk
  int64_t rows = 0;        ///< groups in all
  int64_t image_stride = 0, group_stride = 0, run_stride = 0;
  int32_t groups = 1;  ///< of an image
  int32_t length = 1, chunk = 1, chunks = 1;
  int32_t channels = 1;      ///< of a group
  int32_t coefficients = 0;  ///< 0: one an element of the group; 1: one a plane of it, by i / plane; 2: by i % inner
  Divisor inner, plane;
  float epsilon = 0;
  int32_t lanes = 1;                ///< teams: that share a group; pixels: that a block has at once
  float share = 1;                  ///< 1 / length
  int32_t constant = 0;             ///< whether no kernel writes the coefficients
  int32_t row = 0;                  ///< slices: vectors of a row of the map, whose rows are not pixels; 0: they are
  int32_t centered = 1;             ///< 0: the mean is taken to be 0
  void* q = nullptr;                ///< rows that are quantized: their bytes; y may then be null
  float q_inverse = 1, q_zero = 0;  ///< 1 / scale, and the zero point
};

/// x is (outer, length, inner); y is (outer, inner), or (outer, inner, chunks) of accumulators where a launch folds
/// chunks of `chunk` elements each.
struct ReduceArgument {
  const void* x = nullptr;
  void* y = nullptr;
  int64_t outer = 1, length = 1, inner = 1;
  int64_t chunk = 1, chunks = 1;
  int64_t divisor = 1;
  int32_t average = 0;
};

/// Reductions along any axes, at a warp a result: for those that are not neighbours.
struct AxesArgument {
  const void* x = nullptr;
  void* y = nullptr;
  WalkArgument kept, reduced;
  OperandArgument<int32_t> from_kept, from_reduced;
  int64_t divisor = 1;
  int32_t average = 0;
};

}  // namespace kiln::cuda
