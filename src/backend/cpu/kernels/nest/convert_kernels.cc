#include <algorithm>
#include <bit>
#include <limits>

#include "backend/cpu/kernels/nest/kernel.h"
#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/nest/convert_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

// Plain loops, which the compiler turns into vectors of the target's, but for half precision.
HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// out[i] = f(in[i])
template <class From, class To, class F>
HWY_INLINE void map(const NestCall& call, F f) {
  const From* in = static_cast<const From*>(call.in[0]);
  To* out = static_cast<To*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) out[i] = static_cast<To>(f(in[i]));
}
template <class From, class To>
void convert(const NestCall& call) {
  map<From, To>(call, [](From x) { return static_cast<To>(x); });
}
void to_truth(const NestCall& call) {
  map<uint8_t, int32_t>(call, [](uint8_t x) { return x != 0; });
}
template <class T>
void is_not_zero(const NestCall& call) {
  map<T, int32_t>(call, [](T x) { return x != 0; });
}
/// Wraps to Narrow within T.
template <class T, class Narrow>
void wrap(const NestCall& call) {
  map<T, int32_t>(call, [](T x) { return static_cast<Narrow>(x); });
}

/// The low byte of each number.
void store_byte(const NestCall& call) {
  const hn::RebindToUnsigned<D> d;
  const hn::Rebind<uint8_t, D> narrow;
  const auto* in = static_cast<const uint32_t*>(call.in[0]);
  auto* out = static_cast<uint8_t*>(call.out);
  const auto low = hn::Set(d, 0xff);
  int64_t i = 0;
  for (; i + kLanes <= call.count; i += kLanes)
    hn::StoreU(hn::U8FromU32(hn::And(hn::LoadU(d, in + i), low)), narrow, out + i);
  for (; i < call.count; ++i) out[i] = static_cast<uint8_t>(in[i]);
}

/// A float truncated and saturated to [low, high]; NaN is 0. As double, which holds every limit of 32 bits.
HWY_INLINE int32_t to_range(float x, double low, double high) {
  return x != x ? 0 : static_cast<int32_t>(std::min(std::max(static_cast<double>(x), low), high));
}
void float_to_i32(const NestCall& call) {
  map<float, int32_t>(call, [](float x) { return to_range(x, INT32_MIN, INT32_MAX); });
}
/// to_range by vectors: floats hold every limit of bytes.
template <class Byte>
void float_to_byte(const NestCall& call) {
  constexpr int kLow = std::numeric_limits<Byte>::min(), kHigh = std::numeric_limits<Byte>::max();
  const D d;
  const hn::RebindToSigned<D> di;
  const auto* in = static_cast<const float*>(call.in[0]);
  auto* out = static_cast<int32_t*>(call.out);
  const V low = hn::Set(d, kLow), high = hn::Set(d, kHigh);
  int64_t i = 0;
  for (; i + kLanes <= call.count; i += kLanes) {
    const V x = hn::LoadU(d, in + i);
    const auto whole = hn::ConvertTo(di, hn::Min(hn::Max(x, low), high));
    hn::StoreU(hn::IfThenZeroElse(hn::RebindMask(di, hn::IsNaN(x)), whole), di, out + i);
  }
  for (; i < call.count; ++i) out[i] = to_range(in[i], kLow, kHigh);
}
void float_to_i64(const NestCall& call) {
  constexpr float kBeyond = 9223372036854775808.0f;
  map<float, int64_t>(call, [](float x) -> int64_t {
    if (x != x) return 0;
    if (x >= kBeyond) return INT64_MAX;
    return x < -kBeyond ? INT64_MIN : static_cast<int64_t>(x);
  });
}

HWY_INLINE uint16_t bfloat_bits(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(x != x ? (bits >> 16) | 0x40 : rounded);
}
HWY_INLINE float from_bfloat_bits(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
void load_bfloat(const NestCall& call) { map<uint16_t, float>(call, from_bfloat_bits); }
void store_bfloat(const NestCall& call) { map<float, uint16_t>(call, bfloat_bits); }
void round_bfloat(const NestCall& call) {
  map<float, float>(call, [](float x) { return from_bfloat_bits(bfloat_bits(x)); });
}

using Half = hwy::float16_t;
using DHalf = hn::Rebind<Half, D>;
void load_half(const NestCall& call) {
  const D d;
  const auto* in = static_cast<const Half*>(call.in[0]);
  auto* out = static_cast<float*>(call.out);
  int64_t i = 0;
  for (; i + kLanes <= call.count; i += kLanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(DHalf(), in + i)), d, out + i);
  Half rest[kLanes] = {};
  std::copy(in + i, in + call.count, rest);
  store_some(hn::PromoteTo(d, hn::LoadU(DHalf(), rest)), out + i, static_cast<int>(call.count - i));
}
void store_half(const NestCall& call) {
  const D d;
  const auto* in = static_cast<const float*>(call.in[0]);
  auto* out = static_cast<Half*>(call.out);
  int64_t i = 0;
  for (; i + kLanes <= call.count; i += kLanes)
    hn::StoreU(hn::DemoteTo(DHalf(), hn::LoadU(d, in + i)), DHalf(), out + i);
  Half rest[kLanes];
  hn::StoreU(hn::DemoteTo(DHalf(), load_some(in + i, static_cast<int>(call.count - i))), DHalf(), rest);
  std::copy(rest, rest + (call.count - i), out + i);
}
void round_half(const NestCall& call) {
  const D d;
  const auto* in = static_cast<const float*>(call.in[0]);
  auto* out = static_cast<float*>(call.out);
  for (int64_t i = 0; i < call.count; i += kLanes) {
    const int count = static_cast<int>(std::min<int64_t>(kLanes, call.count - i));
    store_some(hn::PromoteTo(d, hn::DemoteTo(DHalf(), load_some(in + i, count))), out + i, count);
  }
}

NestKernel find_load(DType from) {
  switch (from) {
    case DType::kF16: return load_half;
    case DType::kBF16: return load_bfloat;
    case DType::kI8: return convert<int8_t, int32_t>;
    case DType::kU8: return convert<uint8_t, int32_t>;
    case DType::kBool: return to_truth;
    default: return nullptr;
  }
}
NestKernel find_store(DType to) {
  switch (to) {
    case DType::kF16: return store_half;
    case DType::kBF16: return store_bfloat;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return store_byte;
    default: return nullptr;
  }
}
NestKernel find_round(DType type) {
  switch (type) {
    case DType::kF16: return round_half;
    case DType::kBF16: return round_bfloat;
    case DType::kI8: return wrap<int32_t, int8_t>;
    case DType::kU8: return wrap<int32_t, uint8_t>;
    default: return nullptr;
  }
}
NestKernel find_from_float(DType to) {
  switch (to) {
    case DType::kF16: return round_half;
    case DType::kBF16: return round_bfloat;
    case DType::kF64: return convert<float, double>;
    case DType::kI32: return float_to_i32;
    case DType::kI64: return float_to_i64;
    case DType::kI8: return float_to_byte<int8_t>;
    case DType::kU8: return float_to_byte<uint8_t>;
    case DType::kBool: return is_not_zero<float>;
    default: return nullptr;
  }
}
template <class T>
NestKernel find_from_integer(DType to) {
  switch (to) {
    case DType::kF32: return convert<T, float>;
    case DType::kF64: return convert<T, double>;
    case DType::kI32: return convert<T, int32_t>;
    case DType::kI64: return convert<T, int64_t>;
    case DType::kI8: return wrap<T, int8_t>;
    case DType::kU8: return wrap<T, uint8_t>;
    case DType::kBool: return is_not_zero<T>;
    case DType::kF16:
      return [](const NestCall& call) {
        convert<T, float>(call);
        NestCall again = call;
        again.in[0] = call.out;
        round_half(again);
      };
    case DType::kBF16:
      return [](const NestCall& call) {
        convert<T, float>(call);
        NestCall again = call;
        again.in[0] = call.out;
        round_bfloat(again);
      };
    default: return nullptr;
  }
}
NestKernel find_cast(DType from, DType to) {
  const DType held = register_type(from);
  if (held == DType::kF32) return find_from_float(to);
  if (held == DType::kF64) return find_from_double(to);
  return held == DType::kI64 ? find_from_integer<int64_t>(to) : find_from_integer<int32_t>(to);
}

}  // namespace
NestKernel load_kernel(DType from) { return find_load(from); }
NestKernel store_kernel(DType to) { return find_store(to); }
NestKernel round_kernel(DType type) { return find_round(type); }
NestKernel cast_kernel(DType from, DType to) { return find_cast(from, to); }
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {
NestKernel find_nest_load(DType from) { return KILN_DISPATCH(load_kernel)(from); }
NestKernel find_nest_store(DType to) { return KILN_DISPATCH(store_kernel)(to); }
NestKernel find_nest_round(DType type) { return KILN_DISPATCH(round_kernel)(type); }
NestKernel find_nest_cast(DType from, DType to) { return KILN_DISPATCH(cast_kernel)(from, to); }
}  // namespace kiln::cpu
#endif
