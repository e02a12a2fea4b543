#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/nest/float_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/nest/math-inl.h"
#include "ops/activation-inl.h"
#include "ops/element_wise-inl.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE void store_result(Floats value, void* out, int64_t at, int count) {
  store_some(value.raw, static_cast<float*>(out) + at, count);
}
/// Truth values become 0 and 1, as i32.
HWY_INLINE void store_result(Truths value, void* out, int64_t at, int count) {
  const DI d;
  const VI ones = hn::IfThenElseZero(hn::RebindMask(d, value.raw), hn::Set(d, 1));
  store_some(hn::BitCast(D(), ones), static_cast<float*>(out) + at, count);
}

/// Calls `step(at, count)` for every vector of the call, the last one perhaps of fewer lanes.
template <class Step>
HWY_INLINE void for_each_vector(int64_t count, Step step) {
  int64_t at = 0;
  for (; at + kLanes <= count; at += kLanes) step(at, kLanes);
  if (at < count) step(at, static_cast<int>(count - at));
}
HWY_INLINE Floats argument(const NestCall& call, int index, int64_t at, int count) {
  return load_some(static_cast<const float*>(call.in[index]) + at, count);
}

template <ScalarFn kFn>
void run_activation(const NestCall& call) {
  const Floats alpha(call.alpha), beta(call.beta);
  for_each_vector(call.count, [&](int64_t at, int count) HWY_ATTR {
    store_result(kiln::HWY_NAMESPACE::activation<kFn>(argument(call, 0, at, count), alpha, beta), call.out, at, count);
  });
}
template <ScalarFn kFn>
void run_unary(const NestCall& call) {
  for_each_vector(call.count, [&](int64_t at, int count) HWY_ATTR {
    store_result(kiln::HWY_NAMESPACE::unary<kFn>(argument(call, 0, at, count)), call.out, at, count);
  });
}
template <ScalarFn kFn>
void run_element_wise(const NestCall& call) {
  for_each_vector(call.count, [&](int64_t at, int count) HWY_ATTR {
    store_result(kiln::HWY_NAMESPACE::element_wise<kFn>(argument(call, 0, at, count), argument(call, 1, at, count)),
                 call.out, at, count);
  });
}

template <ScalarFn kFn>
void run_gate(const NestCall& call) {
  const Floats alpha(call.alpha), beta(call.beta);
  for_each_vector(call.count, [&](int64_t at, int count) HWY_ATTR {
    const Floats x = argument(call, 0, at, count);
    store_result(kiln::HWY_NAMESPACE::activation<kFn>(x, alpha, beta) * x, call.out, at, count);
  });
}

NestKernel find(ScalarFn fn) {
  NestKernel kernel = nullptr;
  with_float_fn(
      fn, [&]<ScalarFn kFn>() { kernel = run_activation<kFn>; }, [&]<ScalarFn kFn>() { kernel = run_unary<kFn>; },
      [&]<ScalarFn kFn>() { kernel = run_element_wise<kFn>; });
  return kernel;
}

}  // namespace
NestKernel find_float(ScalarFn fn) { return find(fn); }
NestKernel find_gate(ScalarFn fn) {
  if (fn == ScalarFn::kSigmoid) return run_gate<ScalarFn::kSigmoid>;
  if (fn == ScalarFn::kHardSigmoid) return run_gate<ScalarFn::kHardSigmoid>;
  return nullptr;
}
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {
NestKernel find_float_kernel(ScalarFn fn) { return KILN_DISPATCH(find_float)(fn); }
NestKernel find_nest_gate(ScalarFn fn) { return KILN_DISPATCH(find_gate)(fn); }
}  // namespace kiln::cpu
#endif
