#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/nest/integer_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/element_wise-inl.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"

// Plain loops, which the compiler turns into vectors of the target's.
HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

using kiln::HWY_NAMESPACE::Integer;

/// out[i] = f(a[i]), both of type T; arithmetic in int64 and storing wraps.
template <class T, class F>
HWY_INLINE void map_one(const NestCall& call, F f) {
  const T* a = static_cast<const T*>(call.in[0]);
  T* out = static_cast<T*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<T>(f(a[i]));
}
template <class T, class Out, class F>
HWY_INLINE void map_two(const NestCall& call, F f) {
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  Out* out = static_cast<Out*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<Out>(f(a[i], b[i]));
}

template <class T>
NestKernel find_unary(ScalarFn fn) {
  using enum ScalarFn;
  switch (fn) {
    case kRelu: return [](const NestCall& call) { map_one<T>(call, [](T a) { return a < 0 ? T{0} : a; }); };
    case kAbs: return [](const NestCall& call) { map_one<T>(call, [](T a) { return abs(Integer(a)).value; }); };
    case kNeg: return [](const NestCall& call) { map_one<T>(call, [](T a) { return (-Integer(a)).value; }); };
    case kSign: return [](const NestCall& call) { map_one<T>(call, [](T a) { return (a > 0) - (a < 0); }); };
    default: return nullptr;
  }
}
template <class T>
NestKernel find_binary(ScalarFn fn) {
  using enum ScalarFn;
  NestKernel kernel = nullptr;
  with_scalar_fn<kSum, kFloorDiv>(fn, [&]<ScalarFn kFn>() {
    kernel = [](const NestCall& call) {
      map_two<T, T>(call,
                    [](T a, T b) { return kiln::HWY_NAMESPACE::element_wise<kFn>(Integer(a), Integer(b)).value; });
    };
  });
  with_scalar_fn<kEqual, kLess>(fn, [&]<ScalarFn kFn>() {
    kernel = [](const NestCall& call) {
      map_two<T, int32_t>(call,
                          [](T a, T b) { return kiln::HWY_NAMESPACE::element_wise<kFn>(Integer(a), Integer(b)); });
    };
  });
  return kernel;
}
NestKernel find_logical(ScalarFn fn) {
  using enum ScalarFn;
  using T = int32_t;
  switch (fn) {
    case kNot: return [](const NestCall& call) { map_one<T>(call, [](T a) { return a ^ 1; }); };
    case kAnd: return [](const NestCall& call) { map_two<T, T>(call, [](T a, T b) { return a & b; }); };
    case kOr: return [](const NestCall& call) { map_two<T, T>(call, [](T a, T b) { return a | b; }); };
    case kXor: return [](const NestCall& call) { map_two<T, T>(call, [](T a, T b) { return a ^ b; }); };
    case kEqual: return [](const NestCall& call) { map_two<T, T>(call, [](T a, T b) { return a == b; }); };
    default: return nullptr;
  }
}
template <class T>
void select(const NestCall& call) {
  const int32_t* condition = static_cast<const int32_t*>(call.in[0]);
  const T* then = static_cast<const T*>(call.in[1]);
  const T* otherwise = static_cast<const T*>(call.in[2]);
  T* out = static_cast<T*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = condition[i] ? then[i] : otherwise[i];
}

}  // namespace

NestKernel find_integer(ScalarFn fn, DType type) {
  if (type == DType::kBool) return find_logical(fn);
  if (register_type(type) == DType::kI64) {
    const NestKernel unary = find_unary<int64_t>(fn);
    return unary ? unary : find_binary<int64_t>(fn);
  }
  const NestKernel unary = find_unary<int32_t>(fn);
  return unary ? unary : find_binary<int32_t>(fn);
}
NestKernel find_select(DType type) {
  return bits_of(register_type(type)) == 64 ? select<int64_t> : select<int32_t>;  // bits, of floats too
}

}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {
NestKernel find_integer_kernel(ScalarFn fn, DType type) { return KILN_DISPATCH(find_integer)(fn, type); }
NestKernel find_nest_select(DType type) { return KILN_DISPATCH(find_select)(type); }
NestKernel find_nest_kernel(ScalarFn fn, DType type) {
  if (type == DType::kF64) return find_double_kernel(fn);
  return register_type(type) == DType::kF32 ? find_float_kernel(fn) : find_integer_kernel(fn, type);
}
}  // namespace kiln::cpu
#endif
