// Where a role of a block stands in its ring of STAGES stages.
#pragma once

namespace kiln {

/// A place in the ring of stages; `parity` is that of the phase waited for.
struct Stage {
  int at = 0;
  unsigned parity;
  __device__ explicit Stage(unsigned first) : parity(first) {}
  __device__ void advance() {
    if (++at == STAGES) {
      at = 0;
      parity ^= 1;
    }
  }
  /// Skips a tile that another group multiplies.
  __device__ void skip(int steps) {
    at += steps;
    parity ^= at / STAGES & 1;
    at %= STAGES;
  }
};

}  // namespace kiln
