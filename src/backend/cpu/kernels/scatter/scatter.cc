#include "backend/cpu/kernels/scatter/scatter.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "tensor/numeric.h"

namespace kiln::cpu {
namespace {

/// The index from the front, or -1 if it is outside.
inline int64_t resolve(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(extent) ? index : -1;
}

// An update of `row_bytes` becomes part of y.
template <int kBytes>
struct Overwrite {  // kBytes of 0: p.row_bytes
  static void apply(const ScatterPlan& p, std::byte* y, const std::byte* update) {
    std::memcpy(y, update, kBytes ? kBytes : static_cast<size_t>(p.row_bytes));
  }
};

// How elements lie in memory, and what they are reduced in. A float holds sums and products of halves exactly enough
// that rounding them is rounding the true ones.
struct F32 {
  using Stored = float;
  static float load(Stored x) { return x; }
  static Stored store(float x) { return x; }
};
struct F16 {
  using Stored = uint16_t;
  static float load(Stored x) { return half_to_float(x); }
  static Stored store(float x) { return float_to_half(x); }
};
struct BF16 {
  using Stored = uint16_t;
  static float load(Stored x) { return bfloat16_to_float(x); }
  static Stored store(float x) { return float_to_bfloat16(x); }
};
template <class T>
struct Integer {  // wraps
  using Stored = T;
  static T load(Stored x) { return x; }
  static Stored store(T x) { return x; }
};

template <class T>
T wrapping(T a, T b, auto op) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(op(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return op(a, b);
  }
}

template <class T>
struct Combine {
  using Stored = typename T::Stored;
  static void apply(const ScatterPlan& p, std::byte* y, const std::byte* update) {
    switch (p.reduction) {
      case ScatterReduction::kSum:
        return each(p, y, update, [](auto a, auto b) { return wrapping(a, b, [](auto x, auto z) { return x + z; }); });
      case ScatterReduction::kProd:
        return each(p, y, update, [](auto a, auto b) { return wrapping(a, b, [](auto x, auto z) { return x * z; }); });
      case ScatterReduction::kMax: return each(p, y, update, [](auto a, auto b) { return std::max(a, b); });
      case ScatterReduction::kMin: return each(p, y, update, [](auto a, auto b) { return std::min(a, b); });
      case ScatterReduction::kNone: break;
    }
  }

 private:
  static void each(const ScatterPlan& p, std::byte* y, const std::byte* update, auto reduce) {
    auto* to = reinterpret_cast<Stored*>(y);
    const auto* from = reinterpret_cast<const Stored*>(update);
    const int64_t count = p.row_bytes / static_cast<int64_t>(sizeof(Stored));
    for (int64_t i = 0; i < count; ++i) to[i] = T::store(reduce(T::load(to[i]), T::load(from[i])));
  }
};

/// updates[i] is for y[i with i[axis] replaced by indices[i]].
template <class Index, class Write>
OutsideIndices scatter_elements(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  std::array<int64_t, kMaxRank> at{};
  OutsideIndices outside;
  int64_t to = 0;  // of y, without the axis
  for (int64_t pick = 0; pick < p.picks; ++pick) {
    const int64_t i = resolve(indices[pick], p.extent);
    if (i < 0) [[unlikely]]
      outside.add(indices[pick], p.extent);
    if (i >= 0) Write::apply(p, y + to + i * p.strides[static_cast<size_t>(p.axis)], updates + pick * p.row_bytes);
    for (int axis = p.rank - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      const int64_t step = axis == p.axis ? 0 : p.strides[a];
      to += step;
      if (++at[a] < p.extents[a]) break;
      to -= step * at[a];
      at[a] = 0;
    }
  }
  return outside;
}

/// updates[i] is for y[indices[i, 0 ... rank - 1]], a row.
template <class Index, class Write>
OutsideIndices scatter_rows(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  OutsideIndices outside;
  for (int64_t pick = 0; pick < p.picks; ++pick) {
    int64_t to = 0;
    bool inside = true;
    for (int k = 0; k < p.rank; ++k) {
      const auto a = static_cast<size_t>(k);
      const int64_t given = indices[pick * p.rank + k], i = resolve(given, p.extents[a]);
      if (inside && i < 0) [[unlikely]]
        outside.add(given, p.extents[a]);
      inside = inside && i >= 0;
      to += i * p.strides[a];
    }
    if (inside) Write::apply(p, y + to, updates + pick * p.row_bytes);
  }
  return outside;
}

template <class Index, class Write>
OutsideIndices scatter(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  return p.mode == ScatterMode::kElement ? scatter_elements<Index, Write>(p, indices, updates, y)
                                         : scatter_rows<Index, Write>(p, indices, updates, y);
}

template <class Index>
OutsideIndices overwrite(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  switch (p.row_bytes) {
    case 1: return scatter<Index, Overwrite<1>>(p, indices, updates, y);
    case 2: return scatter<Index, Overwrite<2>>(p, indices, updates, y);
    case 4: return scatter<Index, Overwrite<4>>(p, indices, updates, y);
    case 8: return scatter<Index, Overwrite<8>>(p, indices, updates, y);
    default: return scatter<Index, Overwrite<0>>(p, indices, updates, y);
  }
}

template <class Index>
OutsideIndices scatter_by_type(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  if (p.reduction == ScatterReduction::kNone) return overwrite(p, indices, updates, y);
  switch (p.dtype) {
    case DType::kF32: return scatter<Index, Combine<F32>>(p, indices, updates, y);
    case DType::kF16: return scatter<Index, Combine<F16>>(p, indices, updates, y);
    case DType::kBF16: return scatter<Index, Combine<BF16>>(p, indices, updates, y);
    case DType::kI32: return scatter<Index, Combine<Integer<int32_t>>>(p, indices, updates, y);
    case DType::kI64: return scatter<Index, Combine<Integer<int64_t>>>(p, indices, updates, y);
    default: CHECK(!"a scatter by a reduction without a kernel");
  }
  return {};
}

}  // namespace

Result<ScatterPlan> plan_scatter(const ops::Scatter& scatter, DType dtype, bool wide_indices,
                                 std::span<const int64_t> data, std::span<const int64_t> indices) {
  const int element_bytes = bits_of(dtype) / 8;
  ScatterPlan plan{.mode = scatter.mode, .reduction = scatter.reduction, .dtype = dtype, .wide_indices = wide_indices};
  plan.data_bytes = volume(data) * element_bytes;
  const Extents strides = row_major_strides(data);
  std::span<const int64_t> extents = data;
  if (scatter.mode == ScatterMode::kElement) {
    plan.rank = static_cast<int>(data.size());
    plan.axis = TRY(normalize_axis(scatter.axis, plan.rank));
    plan.extent = data[static_cast<size_t>(plan.axis)];
    plan.picks = volume(indices);
    plan.row_bytes = element_bytes;
    extents = indices;
  } else {
    plan.rank = static_cast<int>(indices.back());
    plan.picks = volume(indices.first(indices.size() - 1));
    plan.row_bytes = volume(data.subspan(static_cast<size_t>(plan.rank))) * element_bytes;
  }
  for (size_t i = 0; i < static_cast<size_t>(plan.rank); ++i) {
    plan.extents[i] = extents[i];
    plan.strides[i] = strides[i] * element_bytes;
  }
  return plan;
}

OutsideIndices run_scatter(const ScatterPlan& plan, const void* data, const void* indices, const void* updates,
                           void* y) {
  // A program may have a cache updated in place.
  if (plan.data_bytes > 0 && y != data) std::memcpy(y, data, static_cast<size_t>(plan.data_bytes));
  const auto* from = static_cast<const std::byte*>(updates);
  auto* to = static_cast<std::byte*>(y);
  return plan.wide_indices ? scatter_by_type(plan, static_cast<const int64_t*>(indices), from, to)
                           : scatter_by_type(plan, static_cast<const int32_t*>(indices), from, to);
}

}  // namespace kiln::cpu
