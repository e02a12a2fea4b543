// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Directions of rounding.

#if defined(__CUDACC__)
#pragma GCC system_header  // for include_next
#include_next <device_types.h>
#elif !defined(__DEVICE_TYPES_H__)
#define __DEVICE_TYPES_H__

#include "host_defines.h"

//! Where a value between two numbers goes.
enum cudaRoundMode {
  cudaRoundNearest,  //!< To the nearest, ties to even.
  cudaRoundZero,     //!< Toward 0.
  cudaRoundPosInf,   //!< Up.
  cudaRoundMinInf,   //!< Down.
};

#endif  // __DEVICE_TYPES_H__
