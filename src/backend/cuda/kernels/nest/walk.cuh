// How kernels walk strided tensors: a linear index is split into coordinates, outermost axis first. kernels/nest/walk.h
// fills these structs on the host; their layouts agree.
#pragma once

#include "device.cuh"

namespace kiln {

inline constexpr int kMaxAxes = 8;

/// Division of n < 2^31 by a number known before the launch, without the division.
struct Divisor {
  unsigned extent, multiplier, shift;
  __device__ __forceinline__ unsigned quotient(unsigned n) const { return (__umulhi(n, multiplier) + n) >> shift; }
};

/// Indices of 32 bits, where all offsets fit in them.
struct Walk {
  using Index = unsigned;
  using Offset = int;
  unsigned count;          ///< elements
  unsigned per_block;      ///< positions that a block handles
  int rank;                ///< at least 1
  Divisor axes[kMaxAxes];  ///< the innermost axis counted in vectors
  /// The coordinate along `axis`; leaves in `position` what outer axes share.
  __device__ __forceinline__ unsigned split(int axis, unsigned& position) const {
    const unsigned quotient = axes[axis].quotient(position), coordinate = position - quotient * axes[axis].extent;
    position = quotient;
    return coordinate;
  }
};
/// Of 64 bits.
struct WideWalk {
  using Index = uint64_t;
  using Offset = int64_t;
  uint64_t count, per_block;
  int rank;
  uint64_t axes[kMaxAxes];
  __device__ __forceinline__ uint64_t split(int axis, uint64_t& position) const {
    const uint64_t quotient = position / axes[axis], coordinate = position - quotient * axes[axis];
    position = quotient;
    return coordinate;
  }
};

/// A tensor on a walk. Strides in elements, that of the innermost axis from one vector to the next.
template <class Offset>
struct Operand {
  void* data;
  Offset step;  ///< between the elements of a vector
  Offset strides[kMaxAxes];
};

}  // namespace kiln
