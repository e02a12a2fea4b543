// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Where an external profiler starts and stops.

#if defined(__CUDACC__)
#pragma GCC system_header  // for include_next
#include_next <cuda_profiler_api.h>
#elif !defined(__CUDA_PROFILER_API_H__)
#define __CUDA_PROFILER_API_H__

#include "driver_types.h"

#if defined(__cplusplus)
extern "C" {
#endif

//! Starts the profiler that this process runs under; does nothing without one.
cudaError_t cudaProfilerStart(void);
//! Stops it.
cudaError_t cudaProfilerStop(void);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // __CUDA_PROFILER_API_H__
