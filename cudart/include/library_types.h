// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of numbers, as NVIDIA's libraries number them, and versions of libraries: NVIDIA's header where there is one,
// for its libraries' headers want what their version has.

#pragma GCC system_header  // for include_next

#if defined(__has_include_next)
#if __has_include_next(<library_types.h>)
#include_next <library_types.h>
#endif
#endif

#if !defined(__LIBRARY_TYPES_H__)
#define __LIBRARY_TYPES_H__

//! A type of numbers: R is real, C complex; F is a float, BF a BFloat16, I an integer and U an unsigned one, of so many
//! bits.
typedef enum cudaDataType_t {
  CUDA_R_16F = 2,
  CUDA_C_16F = 6,
  CUDA_R_16BF = 14,
  CUDA_C_16BF = 15,
  CUDA_R_32F = 0,
  CUDA_C_32F = 4,
  CUDA_R_64F = 1,
  CUDA_C_64F = 5,
  CUDA_R_4I = 16,
  CUDA_C_4I = 17,
  CUDA_R_4U = 18,
  CUDA_C_4U = 19,
  CUDA_R_8I = 3,
  CUDA_C_8I = 7,
  CUDA_R_8U = 8,
  CUDA_C_8U = 9,
  CUDA_R_16I = 20,
  CUDA_C_16I = 21,
  CUDA_R_16U = 22,
  CUDA_C_16U = 23,
  CUDA_R_32I = 10,
  CUDA_C_32I = 11,
  CUDA_R_32U = 12,
  CUDA_C_32U = 13,
  CUDA_R_64I = 24,
  CUDA_C_64I = 25,
  CUDA_R_64U = 26,
  CUDA_C_64U = 27,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29,
  CUDA_R_8F_UE8M0 = 30,
  CUDA_R_6F_E2M3 = 31,
  CUDA_R_6F_E3M2 = 32,
  CUDA_R_4F_E2M1 = 33,
  CUDA_R_8F_UE4M3 = CUDA_R_8F_E4M3,
} cudaDataType;

//! A part of a version.
typedef enum libraryPropertyType_t {
  MAJOR_VERSION = 0,
  MINOR_VERSION = 1,
  PATCH_LEVEL = 2,
} libraryPropertyType;

#endif  // __LIBRARY_TYPES_H__
