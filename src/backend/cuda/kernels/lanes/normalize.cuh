// What kernels of normalisation take.
#pragma once

#include "device.cuh"
#include "nest/walk.cuh"

namespace kiln {

/// What kernels take; kernels/lanes/normalize.h has the same. A group is `length` elements: element i lies at
/// i / inner * run_stride + i % inner from the group's first.
struct Normalization {
  const void *x, *scale, *bias;
  void* y;
  float* parts;  ///< a mean and a sum of squared differences a chunk
  int64_t rows;  ///< groups in all
  int64_t image_stride, group_stride, run_stride;
  int groups;  ///< of an image
  int length, chunk, chunks;
  int channels;      ///< of a group
  int coefficients;  ///< 0: one an element of the group; 1: one a plane of it, by i / plane; 2: by i % inner
  Divisor inner, plane;
  float epsilon;
  int lanes;     ///< teams: that share a group; pixels: that a block has at once
  float share;   ///< 1 / length
  int constant;  ///< whether no kernel writes the coefficients
  int row;       ///< slices: vectors of a row of the map, whose rows are not pixels; 0: they are
};

}  // namespace kiln

#define KILN_NORMALIZE(entry, threads, call)                                                                   \
  extern "C" __global__ void __launch_bounds__(threads) entry(const __grid_constant__ kiln::Normalization n) { \
    using namespace kiln;                                                                                      \
    call(n);                                                                                                   \
  }
