/// Highway's targets for which kernels are compiled, and the choice among them at run time. A kernel file begins:
///
///   #include "backend/cpu/kernels/targets.h"  // before anything of Highway's
///   #undef HWY_TARGET_INCLUDE
///   #define HWY_TARGET_INCLUDE "backend/cpu/kernels/<family>/<file>.cc"
///   #include <hwy/foreach_target.h>
///   #include <hwy/highway.h>
///
/// All its templates stand inside HWY_NAMESPACE; its public functions, in `#if HWY_ONCE`, call KILN_DISPATCH(f)(...).
/// Highway's own dispatch would need libhwy at run time, and its baseline would compile everything for SSE2 once more.
#pragma once

#include "backend/cpu/device/cpu.h"

#if defined(HWY_DETECT_TARGETS_H_) || defined(HIGHWAY_HWY_DETECT_TARGETS_H_)
#error "targets.h must come before Highway's headers"
#endif

#if defined(__x86_64__)
// The weakest target counts as the baseline: Highway still compiles it under target attributes of its own, so that no
// flag of a file leaks into inline functions.
#define HWY_BASELINE_TARGETS HWY_AVX2
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_AVX3))
#elif defined(__aarch64__)
#define HWY_BASELINE_TARGETS HWY_NEON
#define HWY_DISABLED_TARGETS (~HWY_NEON)
#endif

namespace kiln::cpu {

/// The variant for the chosen target; a variant that was not compiled is null.
template <class F>
F choose(F avx2, F avx512, F neon) {
  switch (target()) {
    case Target::kAvx512: return avx512;
    case Target::kNeon: return neon;
    case Target::kAvx2: break;
  }
  return avx2;
}

}  // namespace kiln::cpu

/// The function `name` of the chosen target's namespace. One of the project's few macros: Highway names namespaces by
/// macros only.
#define KILN_DISPATCH(name)                                                                                \
  (::kiln::cpu::choose<decltype(&HWY_STATIC_DISPATCH(name))>(HWY_CHOOSE_AVX2(name), HWY_CHOOSE_AVX3(name), \
                                                             HWY_CHOOSE_NEON(name)))
