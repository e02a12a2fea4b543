// Elements moved from one set of strides to another: copies, reformats, slices, broadcasts, concatenations. An element
// is a unit of 1 to 16 bytes; the host widens units where neighbours stay neighbours, and writes the lines that
// instantiate what a step needs (move.cc).
#pragma once

#include "backend/cuda/kernels/move/arguments.h"
#include "nest/walk.cuh"

namespace kiln {

using Unit1 = unsigned char;
using Unit2 = unsigned short;
using Unit4 = unsigned;
using Unit8 = unsigned long long;
struct alignas(16) Unit16 {
  unsigned words[4];
};

using cuda::Box;
using cuda::Boxes;

template <class Unit, class W>
__device__ __forceinline__ void move_block(const Box<W>& box, unsigned block) {
  constexpr int kUnroll = sizeof(typename W::Index) == 4 ? 4 : 1;  // loads in flight
  using Offset = typename W::Offset;
  Unit values[kUnroll];
  Offset from[kUnroll], to[kUnroll];
  bool live[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const unsigned in_block = threadIdx.x + u * blockDim.x;
    typename W::Index position = typename W::Index(block) * box.walk.per_block + in_block;
    live[u] = in_block < box.walk.per_block && position < box.walk.count;
    from[u] = to[u] = 0;
#pragma unroll 1
    for (int axis = box.walk.rank - 1; axis > 0; --axis) {
      const auto i = Offset(box.walk.split(axis, position));
      from[u] += i * box.from.strides[axis];
      to[u] += i * box.to.strides[axis];
    }
    from[u] += Offset(position) * box.from.strides[0];
    to[u] += Offset(position) * box.to.strides[0];
  }
  pdl_wait();
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (live[u]) values[u] = static_cast<const Unit*>(box.from.data)[from[u]];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (live[u]) static_cast<Unit*>(box.to.data)[to[u]] = values[u];
}

template <class Unit, class W, int N>
__device__ __forceinline__ void move(const Boxes<W, N>& boxes) {
  pdl_launch();
  int which = 0;
#pragma unroll 1
  while (N > 1 && which + 1 < boxes.count && blockIdx.x >= boxes.at[which + 1].first_block) ++which;
  move_block<Unit>(boxes.at[which], blockIdx.x - boxes.at[which].first_block);
}

/// A transpose: axis a is contiguous in the source, axis b in the target; what is outside them is walked.
using Transpose = cuda::TransposeArgument;

/// A block's tile.
struct TransposePlace {
  int from = 0, to = 0, left_a, left_b;
  __device__ __forceinline__ TransposePlace(const Transpose& t, int tile_a, int tile_b)
      : left_a(t.extent_a), left_b(t.extent_b) {
    unsigned position = blockIdx.x;
    const int rank = t.outer.rank;
#pragma unroll 1
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int i = axis > 0 ? int(t.outer.split(axis, position)) : int(position);
      from += i * t.from.strides[axis];
      to += i * t.to.strides[axis];
      if (axis == rank - 1) left_b -= i * tile_b;
      if (axis == rank - 2) left_a -= i * tile_a;
    }
  }
};

/// A tile of both axes through shared memory, so that reads and writes are contiguous.
template <class Unit, int kTile>
__device__ __forceinline__ void transpose(const Transpose& t) {
  pdl_launch();
  constexpr int kPad = sizeof(Unit) >= 4 ? 1 : 4 / sizeof(Unit);  // columns of a tile fall into different banks
  constexpr int kRows = 256 / kTile;
  __shared__ Unit tile[kTile][kTile + kPad];
  const TransposePlace place(t, kTile, kTile);
  const int left_a = place.left_a, left_b = place.left_b;
  const int x = threadIdx.x % kTile, y = threadIdx.x / kTile;
  pdl_wait();
  const Unit* source = static_cast<const Unit*>(t.from.data) + place.from;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows)
    if (x < left_a && row + y < left_b) tile[row + y][x] = source[x + (row + y) * t.from_b];
  __syncthreads();
  Unit* target = static_cast<Unit*>(t.to.data) + place.to;
#pragma unroll
  for (int row = 0; row < kTile; row += kRows)
    if (x < left_b && row + y < left_a) target[x + (row + y) * t.to_a] = tile[x][row + y];
}

/// The same by 16 bytes: small units are put together to words of kPack neighbours along b on their way. Extents and
/// strides are multiples of 16 bytes.
template <class Unit>
__device__ __forceinline__ void transpose_vectors(const Transpose& t) {
  constexpr int kVec = 16 / sizeof(Unit), kPack = 4 / sizeof(Unit), kTileA = 64, kWordsB = 32, kTileB = kWordsB * kPack;
  constexpr int kLanesA = 32 / kVec, kWarps = 4, kPieces = kTileA / 32 * (kWordsB / kVec) / kWarps;
  __shared__ unsigned tile[kTileA][kWordsB + 1];
  pdl_launch();
  const TransposePlace place(t, kTileA, kTileB);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Unit* source = static_cast<const Unit*>(t.from.data) + place.from;
  pdl_wait();
  Vec<Unit, kVec> loaded[kPieces][kPack];
  // A warp's piece is 32 elements of a by kVec words of b, so that its stores hit every bank once.
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int piece = i * kWarps + warp, a = piece % 2 * 32 + lane % kLanesA * kVec;
    const int b = (piece / 2 * kVec + lane / kLanesA) * kPack;
#pragma unroll
    for (int p = 0; p < kPack; ++p)
      if (a < place.left_a && b < place.left_b) loaded[i][p] = load_vec<Unit, kVec>(source + a + (b + p) * t.from_b);
  }
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int piece = i * kWarps + warp, a = piece % 2 * 32 + lane % kLanesA * kVec;
#pragma unroll
    for (int e = 0; e < kVec; ++e) {
      unsigned word = 0;
#pragma unroll
      for (int p = 0; p < kPack; ++p) word |= unsigned(loaded[i][p].at[e]) << (8 * sizeof(Unit) * p % 32);
      tile[a + e][piece / 2 * kVec + lane / kLanesA] = word;
    }
  }
  __syncthreads();
  Unit* target = static_cast<Unit*>(t.to.data) + place.to;
#pragma unroll
  for (int row = 0; row < kTileA; row += 4 * kWarps) {
    const int a = row + warp * 4 + lane / 8, word = lane % 8 * 4;
    if (a >= place.left_a || word * kPack >= place.left_b) continue;
    Vec<unsigned, 4> out;
#pragma unroll
    for (int e = 0; e < 4; ++e) out.at[e] = tile[a][word + e];
    store_vec<unsigned, 4>(reinterpret_cast<unsigned*>(target + a * t.to_a + word * kPack), out);
  }
}

}  // namespace kiln
