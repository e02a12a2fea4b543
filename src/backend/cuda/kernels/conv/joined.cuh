// A convolution's x that may be two tensors, one's channels behind the other's, each with a tensor map of its own.
// Defines: JOINED (1: it is), those of conv/arguments.cuh.
#pragma once
#include "conv/arguments.cuh"
#include "ptx/hopper.cuh"

// In a kernel's parameters, between the map of w and the arguments; x itself has the map `map_x`.
#if JOINED
#define MAP_BEHIND const __grid_constant__ TensorMap map_behind,
#define MAPS_OF_X \
  { &map_x, &map_behind }
#else
#define MAP_BEHIND
#define MAPS_OF_X \
  { &map_x, &map_x }
#endif

namespace kiln {

struct MapsOfX {
  const TensorMap *front, *behind;

  /// Where channel `channel` of both together is found.
  struct Place {
    const TensorMap* map;
    int channel;
  };
  __device__ __forceinline__ Place of(const ConvArguments& args, int channel) const {
    const bool is_behind = JOINED && channel >= args.joined;
    return {is_behind ? behind : front, channel - (is_behind ? args.joined : 0)};
  }
};

}  // namespace kiln
