// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Extents of grids and blocks.

#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

//! Three unsigned numbers.
struct uint3 {
  unsigned int x, y, z;
};

//! Extents of a grid or a block; in C++ what is left out is 1.
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus)
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};

#if !defined(__cplusplus)
typedef struct uint3 uint3;
typedef struct dim3 dim3;
#endif

#endif  // __VECTOR_TYPES_H__
