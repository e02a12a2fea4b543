/// What kernels are given of a walk over strided tensors. Like every kernels/*/arguments.h, the host and NVRTC compile
/// this header.
#pragma once

#include <cstdint>

namespace kiln::cuda {

inline constexpr int kMaxAxes = 8;

/// Division of n < 2^31 by a number known before the launch, without the division: `divisor_of` makes it.
struct Divisor {
  uint32_t extent = 1, multiplier = 1, shift = 0;
#ifdef __CUDACC_RTC__
  uint32_t quotient(uint32_t n) const { return (__umulhi(n, multiplier) + n) >> shift; }
#endif
};

/// A linear index is split into coordinates, the outermost axis first. Indices of 32 bits, where all offsets fit in
/// them.
struct WalkArgument {
  using Index = uint32_t;
  using Offset = int32_t;
  uint32_t count = 0;      ///< elements
  uint32_t per_block = 0;  ///< positions that a block handles
  int32_t rank = 1;        ///< at least 1
  Divisor axes[kMaxAxes];  ///< the innermost axis counted in vectors
#ifdef __CUDACC_RTC__
  /// The coordinate along `axis`; leaves in `position` what outer axes share.
  uint32_t split(int axis, uint32_t& position) const {
    const uint32_t quotient = axes[axis].quotient(position), coordinate = position - quotient * axes[axis].extent;
    position = quotient;
    return coordinate;
  }
#endif
};
/// A walk in 64 bits.
struct WideWalkArgument {
  using Index = uint64_t;
  using Offset = int64_t;
  uint64_t count = 0, per_block = 0;
  int32_t rank = 1;
  uint64_t axes[kMaxAxes] = {};
  uint64_t split(int axis, uint64_t& position) const {
    const uint64_t quotient = position / axes[axis], coordinate = position - quotient * axes[axis];
    position = quotient;
    return coordinate;
  }
};

static_assert(sizeof(WalkArgument) == 108 && sizeof(WideWalkArgument) == 88);  // for both compilers

/// A tensor on a walk. Strides in elements, that of the innermost axis from one vector to the next.
template <class Offset>
struct OperandArgument {
  void* data = nullptr;  ///< kernels only read their inputs
  Offset step = 0;       ///< between the elements of a vector
  Offset strides[kMaxAxes] = {};
};

}  // namespace kiln::cuda
