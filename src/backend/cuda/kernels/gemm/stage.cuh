// Where a role of a block stands in its ring of stages.
#pragma once

namespace kiln {

/// A place in the ring of stages; `parity` is that of the phase waited for.
struct Stage {
  int at = 0;
  unsigned parity;
  __device__ explicit Stage(unsigned first) : parity(first) {}
  __device__ void advance() {
    if (++at == kTile.stages) {
      at = 0;
      parity ^= 1;
    }
  }
  /// Skips a tile that another group multiplies.
  __device__ void skip(int steps) {
    at += steps;
    parity ^= at / kTile.stages & 1;
    at %= kTile.stages;
  }
};

}  // namespace kiln
