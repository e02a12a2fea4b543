// Batches of products: where a batch's matrices lie.
#pragma once
#include "backend/cuda/kernels/gemm/arguments.h"

namespace kiln {

using cuda::BatchAxis;
using cuda::Batches;

struct BatchOffsets {
  long long a = 0, b = 0, c = 0;
};
__device__ __forceinline__ BatchOffsets batch_offsets(const Batches& batches, int index) {
  BatchOffsets at;
  for (int i = 0; i < batches.axes; ++i) {
    const BatchAxis& axis = batches.axis[i];
    const int here = index % axis.extent;
    index /= axis.extent;
    at.a += here * axis.a;
    at.b += here * axis.b;
    at.c += here * axis.c;
  }
  return at;
}

}  // namespace kiln
