// Batches of products: where a batch's matrices lie.
#pragma once

namespace kiln {

/// One batch axis: its extent, and how far each tensor moves along it (0 repeats).
struct BatchAxis {
  int extent;
  int unused;
  long long a, b, c;
};
/// Up to six axes, the innermost first; the host's struct of the same name has this layout.
struct Batches {
  int axes;
  int unused;
  BatchAxis axis[6];
};

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
