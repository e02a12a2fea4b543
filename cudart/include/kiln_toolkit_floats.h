// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whose small floats a program gets. NVIDIA's have more functions, so where a toolkit that is new enough (12.8)
// follows on the include path, the headers beside this one pass on to its. The types are the same in memory.

#ifndef KILN_TOOLKIT_FLOATS_H
#define KILN_TOOLKIT_FLOATS_H

#pragma GCC system_header  // for __has_include_next

//! 1 where NVIDIA's headers are taken; define KILN_OWN_FLOATS to have Kiln's in any case.
#define KILN_TOOLKIT_FLOATS 0
#if defined(__CUDACC__)
#undef KILN_TOOLKIT_FLOATS
#define KILN_TOOLKIT_FLOATS 1
#elif defined(__has_include_next) && !defined(KILN_OWN_FLOATS)
#if __has_include_next(<cuda_fp4.h>) && __has_include_next(<nv/target>)
#undef KILN_TOOLKIT_FLOATS
#define KILN_TOOLKIT_FLOATS 1
#endif
#endif

#endif  // KILN_TOOLKIT_FLOATS_H
