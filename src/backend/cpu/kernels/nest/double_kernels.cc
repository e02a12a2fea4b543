#include <limits>
#include <type_traits>

#include "backend/cpu/kernels/nest/kernel.h"
#include "ops/activation-inl.h"
#include "ops/element_wise-inl.h"
#include "ops/unary-inl.h"
#include "ops/with_scalar_fn.h"
#include "tensor/numeric.h"

// An element at a time, by the functions of the reference: networks compute few numbers in f64, such as the angles of
// rotary embeddings, and want their last digits. So there is one version for all targets.
namespace kiln::cpu {
namespace {

/// out[i] = f(in[i])
template <class Out, class F>
void map_one(const NestCall& call, F f) {
  const auto* in = static_cast<const double*>(call.in[0]);
  auto* out = static_cast<Out*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<Out>(f(in[i]));
}

template <ScalarFn kFn>
void run_activation(const NestCall& call) {
  const double alpha = call.alpha, beta = call.beta;
  map_one<double>(call, [=](double x) { return HWY_NAMESPACE::activation<kFn>(x, alpha, beta); });
}
/// Truth values become 0 and 1, as i32.
template <ScalarFn kFn>
void run_unary(const NestCall& call) {
  using Result = decltype(HWY_NAMESPACE::unary<kFn>(0.0));
  using Out = std::conditional_t<std::is_same_v<Result, bool>, int32_t, double>;
  map_one<Out>(call, [](double x) { return HWY_NAMESPACE::unary<kFn>(x); });
}
template <ScalarFn kFn>
void run_element_wise(const NestCall& call) {
  using Result = decltype(HWY_NAMESPACE::element_wise<kFn>(0.0, 0.0));
  using Out = std::conditional_t<std::is_same_v<Result, bool>, int32_t, double>;
  const auto* a = static_cast<const double*>(call.in[0]);
  const auto* b = static_cast<const double*>(call.in[1]);
  auto* out = static_cast<Out*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<Out>(HWY_NAMESPACE::element_wise<kFn>(a[i], b[i]));
}

/// Truncated and saturated to Whole's range; NaN is 0. The result is held as an Out.
template <class Whole, class Out>
void to_integer(const NestCall& call) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<Whole>::min());
  constexpr double kBeyond = static_cast<double>(std::numeric_limits<Whole>::max()) + 1;  // of i64: 2^63, rounded to it
  map_one<Out>(call, [](double x) -> Whole {
    if (x != x) return 0;
    if (x >= kBeyond) return std::numeric_limits<Whole>::max();
    return x < kLow ? std::numeric_limits<Whole>::min() : static_cast<Whole>(x);
  });
}

}  // namespace

NestKernel find_double_kernel(ScalarFn fn) {
  NestKernel kernel = nullptr;
  with_float_fn(
      fn, [&]<ScalarFn kFn>() { kernel = run_activation<kFn>; }, [&]<ScalarFn kFn>() { kernel = run_unary<kFn>; },
      [&]<ScalarFn kFn>() { kernel = run_element_wise<kFn>; });
  return kernel;
}

NestKernel find_from_double(DType to) {
  switch (to) {
    case DType::kF32: return [](const NestCall& call) { map_one<float>(call, [](double x) { return x; }); };
    case DType::kF16:
      return [](const NestCall& call) {
        map_one<float>(call, [](double x) { return half_to_float(float_to_half(round_to_odd(x))); });
      };
    case DType::kBF16:
      return [](const NestCall& call) {
        map_one<float>(call, [](double x) { return bfloat16_to_float(float_to_bfloat16(round_to_odd(x))); });
      };
    case DType::kI32: return to_integer<int32_t, int32_t>;
    case DType::kI64: return to_integer<int64_t, int64_t>;
    case DType::kI8: return to_integer<int8_t, int32_t>;
    case DType::kU8: return to_integer<uint8_t, int32_t>;
    case DType::kBool: return [](const NestCall& call) { map_one<int32_t>(call, [](double x) { return x != 0; }); };
    default: return nullptr;
  }
}

}  // namespace kiln::cpu
