// A convolution's x that may be two tensors, one's channels behind the other's, each with a tensor map of its own. The
// generated entry of such a kernel has their maps, and calls its run().
#pragma once
#include "conv/arguments.cuh"
#include "ptx/hopper.cuh"

namespace kiln {

struct MapsOfX {
  const TensorMap *front, *behind;

  /// Where channel `channel` of both together is found.
  struct Place {
    const TensorMap* map;
    int channel;
  };
  __device__ __forceinline__ Place of(const ConvArguments& args, int channel) const {
    const bool is_behind = kTile.joined && channel >= args.joined;
    return {is_behind ? behind : front, channel - (is_behind ? args.joined : 0)};
  }
};

}  // namespace kiln
