// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Words that CUDA adds to declarations. A host compiler makes nothing of them; NVIDIA's other headers, which may stand
// beside these, use them.

#if defined(__CUDACC__)
#pragma GCC system_header  // for include_next
#include_next <host_defines.h>
#elif !defined(__HOST_DEFINES_H__)
#define __HOST_DEFINES_H__

#if !defined(__forceinline__)
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __no_return__ __attribute__((noreturn))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __inline_hint__
#define __annotate__(a)
#define __location__(a)
#define __maxnreg__(a)
#define __local_maxnreg__(a)
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __specialization_static
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __nv_pure__
#define __tile__
#define __tile_global__
#define __tile_builtin__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__

#if !defined(CUDARTAPI)
#define CUDARTAPI
#endif
#define CUDARTAPI_CDECL

#endif  // __HOST_DEFINES_H__
