// Elements moved from one set of strides to another: copies, reformats, slices, broadcasts, concatenations. An element
// is a unit of 1 to 16 bytes; the host widens units where neighbours stay neighbours, and writes the lines that
// instantiate what a step needs (move.cc).
#pragma once

#include "nest/walk.cuh"

namespace kiln {

using Unit1 = unsigned char;
using Unit2 = unsigned short;
using Unit4 = unsigned;
using Unit8 = unsigned long long;
struct alignas(16) Unit16 {
  unsigned words[4];
};

/// Elements of one box; a launch may hold several, whose blocks follow each other. kernels/move/move.h has the same.
template <class W>
struct Box {
  W walk;
  Operand<typename W::Offset> from, to;
  unsigned first_block;
};
template <class W, int N>
struct Boxes {
  int count;
  Box<W> at[N];
};

template <class Unit, class W>
__device__ __forceinline__ void move_block(const Box<W>& box, unsigned block) {
  constexpr int kUnroll = sizeof(typename W::Index) == 4 ? 4 : 1;  // loads in flight
  using Offset = typename W::Offset;
  Unit values[kUnroll];
  Offset to[kUnroll];
  bool live[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const unsigned in_block = threadIdx.x + u * blockDim.x;
    typename W::Index position = typename W::Index(block) * box.walk.per_block + in_block;
    live[u] = in_block < box.walk.per_block && position < box.walk.count;
    Offset from = 0;
    to[u] = 0;
#pragma unroll 1
    for (int axis = box.walk.rank - 1; axis > 0; --axis) {
      const auto i = Offset(box.walk.split(axis, position));
      from += i * box.from.strides[axis];
      to[u] += i * box.to.strides[axis];
    }
    from += Offset(position) * box.from.strides[0];
    to[u] += Offset(position) * box.to.strides[0];
    if (live[u]) values[u] = static_cast<const Unit*>(box.from.data)[from];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (live[u]) static_cast<Unit*>(box.to.data)[to[u]] = values[u];
}

template <class Unit, class W, int N>
__device__ __forceinline__ void move(const Boxes<W, N>& boxes) {
  int which = 0;
#pragma unroll 1
  while (N > 1 && which + 1 < boxes.count && blockIdx.x >= boxes.at[which + 1].first_block) ++which;
  pdl_wait();
  move_block<Unit>(boxes.at[which], blockIdx.x - boxes.at[which].first_block);
}

}  // namespace kiln

#define KILN_MOVE(entry, Unit, Walk, boxes_of_launch)                                 \
  extern "C" __global__ void __launch_bounds__(256)                                   \
      entry(const __grid_constant__ kiln::Boxes<kiln::Walk, boxes_of_launch> boxes) { \
    kiln::move<Unit>(boxes);                                                          \
  }

namespace kiln {

/// A transpose: axis a is contiguous in the source, axis b in the target; what is outside them is walked.
struct Transpose {
  Walk outer;             // of tiles: its innermost two axes count tiles along a and along b
  Operand<int> from, to;  // strides of outer's axes; of the last two: from one tile to the next
  int extent_a, extent_b;
  int from_b, to_a;  // strides
};

/// A tile of both axes through shared memory, so that reads and writes are contiguous.
template <class Unit, int kTile>
__device__ __forceinline__ void transpose(const Transpose& t) {
  constexpr int kPad = sizeof(Unit) >= 4 ? 1 : 4 / sizeof(Unit);  // columns of a tile fall into different banks
  constexpr int kRows = 256 / kTile;
  __shared__ Unit tile[kTile][kTile + kPad];
  unsigned position = blockIdx.x;
  const int rank = t.outer.rank;
  int from = 0, to = 0, left_a = t.extent_a, left_b = t.extent_b;
#pragma unroll 1
  for (int axis = rank - 1; axis >= 0; --axis) {
    const int i = axis > 0 ? int(t.outer.split(axis, position)) : int(position);
    from += i * t.from.strides[axis];
    to += i * t.to.strides[axis];
    if (axis == rank - 1) left_b -= i * kTile;
    if (axis == rank - 2) left_a -= i * kTile;
  }
  const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  pdl_wait();
  const Unit* source = static_cast<const Unit*>(t.from.data) + from;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows)
    if (x < left_a && row + y < left_b) tile[row + y][x] = source[x + (row + y) * t.from_b];
  __syncthreads();
  Unit* target = static_cast<Unit*>(t.to.data) + to;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows)
    if (x < left_b && row + y < left_a) target[x + (row + y) * t.to_a] = tile[x][row + y];
}

}  // namespace kiln

#define KILN_TRANSPOSE(entry, Unit, tile)                                                              \
  extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ kiln::Transpose t) { \
    kiln::transpose<Unit, tile>(t);                                                                    \
  }
