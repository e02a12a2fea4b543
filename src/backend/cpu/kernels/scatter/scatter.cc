#include "backend/cpu/kernels/scatter/scatter.h"

#include <cstring>

namespace kiln::cpu {
namespace {

/// The index from the front, or -1 if it is outside.
inline int64_t resolve(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(extent) ? index : -1;
}

/// updates[i] is for y[i with i[axis] replaced by indices[i]]. Elements of kBytes.
template <class Index, int kBytes>
OutsideIndices scatter_elements(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  std::array<int64_t, kMaxRank> at{};
  OutsideIndices outside;
  int64_t to = 0;  // of y, without the axis
  for (int64_t pick = 0; pick < p.picks; ++pick) {
    const int64_t i = resolve(indices[pick], p.extent);
    if (i < 0) [[unlikely]]
      outside.add(indices[pick], p.extent);
    if (i >= 0) std::memcpy(y + to + i * p.strides[static_cast<size_t>(p.axis)], updates + pick * kBytes, kBytes);
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

/// updates[i] is for y[indices[i, 0 ... rank - 1]]. Rows of kBytes; 0: of `row_bytes`.
template <class Index, int kBytes>
OutsideIndices scatter_rows(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  const auto bytes = static_cast<size_t>(p.row_bytes);
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
    if (inside) std::memcpy(y + to, updates + pick * p.row_bytes, kBytes ? kBytes : bytes);
  }
  return outside;
}

template <class Index, int kBytes>
OutsideIndices scatter(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  if constexpr (kBytes > 0)
    if (p.mode == ScatterMode::kElement) return scatter_elements<Index, kBytes>(p, indices, updates, y);
  return scatter_rows<Index, kBytes>(p, indices, updates, y);
}

template <class Index>
OutsideIndices scatter_by_size(const ScatterPlan& p, const Index* indices, const std::byte* updates, std::byte* y) {
  switch (p.row_bytes) {
    case 1: return scatter<Index, 1>(p, indices, updates, y);
    case 2: return scatter<Index, 2>(p, indices, updates, y);
    case 4: return scatter<Index, 4>(p, indices, updates, y);
    case 8: return scatter<Index, 8>(p, indices, updates, y);
    default: return scatter<Index, 0>(p, indices, updates, y);
  }
}

}  // namespace

Result<ScatterPlan> plan_scatter(const ops::Scatter& scatter, int element_bytes, bool wide_indices,
                                 std::span<const int64_t> data, std::span<const int64_t> indices) {
  ScatterPlan plan{.mode = scatter.mode, .element_bytes = element_bytes, .wide_indices = wide_indices};
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
  return plan.wide_indices ? scatter_by_size(plan, static_cast<const int64_t*>(indices), from, to)
                           : scatter_by_size(plan, static_cast<const int32_t*>(indices), from, to);
}

}  // namespace kiln::cpu
