// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA driver's API: NVIDIA's header where there is one, else its version only, which is what most programs want.

#pragma GCC system_header  // for include_next

#if defined(__has_include_next)
#if __has_include_next(<cuda.h>)
#include_next <cuda.h>
#endif
#endif

#ifndef CUDA_VERSION
//! Version of the API: 1000 * major + 10 * minor.
#define CUDA_VERSION 13000
#endif
