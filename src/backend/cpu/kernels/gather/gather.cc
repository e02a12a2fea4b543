#include "backend/cpu/kernels/gather/gather.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {
namespace {

/// The index from the front, or -1 if it is outside.
inline int64_t resolve(int64_t index, int64_t extent) {
  if (index < 0) index += extent;
  return static_cast<uint64_t>(index) < static_cast<uint64_t>(extent) ? index : -1;
}

template <int kBytes>
struct Row {
  std::byte bytes[kBytes];
};
/// Rows of a size known to the compiler; 0: of `bytes`.
template <int kBytes>
inline void put_row(std::byte* to, const std::byte* from, size_t bytes) {
  if constexpr (kBytes == 0) {
    from ? std::memcpy(to, from, bytes) : std::memset(to, 0, bytes);
  } else {
    Row<kBytes> row{};
    if (from) std::memcpy(&row, from, kBytes);
    std::memcpy(to, &row, kBytes);
  }
}

/// Rows [begin, end) of y, counted over e, a and i.
template <class Index, int kBytes>
OutsideIndices gather_rows(const GatherPlan& p, const std::byte* data, const Index* indices, std::byte* y,
                           int64_t begin, int64_t end) {
  const auto bytes = static_cast<size_t>(p.row_bytes);
  OutsideIndices outside;
  for (int64_t at = begin; at < end;) {
    const int64_t slice = at / p.picks, batch = slice / p.outer;
    const std::byte* from = data + batch * p.data_batch_bytes + slice % p.outer * p.extent * p.row_bytes;
    const Index* index = indices + batch * p.index_batch_step;
    const int64_t stop = std::min(end, (slice + 1) * p.picks);
    for (; at < stop; ++at) {
      const int64_t given = index[at - slice * p.picks], i = resolve(given, p.extent);
      if (i < 0) [[unlikely]]
        outside.add(given, p.extent);
      put_row<kBytes>(y + at * p.row_bytes, i < 0 ? nullptr : from + i * p.row_bytes, bytes);
    }
  }
  return outside;
}

/// Elements [begin, end) of y, which has the extents of the indices.
template <class Index, int kBytes>
OutsideIndices gather_elements(const GatherPlan& p, const std::byte* data, const Index* indices, std::byte* y,
                               int64_t begin, int64_t end) {
  std::array<int64_t, kMaxRank> index{};
  for (int64_t axis = p.rank - 1, rest = begin; axis >= 0; --axis) {
    const auto i = static_cast<size_t>(axis);
    index[i] = rest % p.index_extents[i];
    rest /= p.index_extents[i];
  }
  const auto along = static_cast<size_t>(p.axis);
  OutsideIndices outside;
  for (int64_t at = begin; at < end; ++at) {
    const int64_t picked = resolve(indices[at], p.extent);
    int64_t offset = picked * p.data_strides[along];
    for (size_t i = 0; i < static_cast<size_t>(p.rank); ++i)
      if (i != along) offset += index[i] * p.data_strides[i];
    if (picked < 0) [[unlikely]]
      outside.add(indices[at], p.extent);
    put_row<kBytes>(y + at * p.element_bytes, picked < 0 ? nullptr : data + offset,
                    static_cast<size_t>(p.element_bytes));
    for (int axis = p.rank - 1; axis >= 0; --axis) {
      if (++index[static_cast<size_t>(axis)] < p.index_extents[static_cast<size_t>(axis)]) break;
      index[static_cast<size_t>(axis)] = 0;
    }
  }
  return outside;
}

/// Rows [begin, end) of y, counted over e and i.
template <class Index, int kBytes>
OutsideIndices gather_nd(const GatherPlan& p, const std::byte* data, const Index* indices, std::byte* y, int64_t begin,
                         int64_t end) {
  OutsideIndices outside;
  for (int64_t at = begin; at < end; ++at) {
    int64_t offset = at / p.picks * p.data_batch_bytes;
    bool inside = true;
    for (int k = 0; k < p.rank; ++k) {
      const auto i = static_cast<size_t>(k);
      const int64_t given = indices[at * p.rank + k], picked = resolve(given, p.index_extents[i]);
      if (inside && picked < 0) [[unlikely]]
        outside.add(given, p.index_extents[i]);
      inside = inside && picked >= 0;
      offset += picked * p.data_strides[i];
    }
    put_row<kBytes>(y + at * p.row_bytes, inside ? data + offset : nullptr, static_cast<size_t>(p.row_bytes));
  }
  return outside;
}

template <class Index, int kBytes>
OutsideIndices gather_part(const GatherPlan& p, const std::byte* data, const void* indices, std::byte* y, int64_t begin,
                           int64_t end) {
  const auto* index = static_cast<const Index*>(indices);
  switch (p.mode) {
    case GatherMode::kDefault: return gather_rows<Index, kBytes>(p, data, index, y, begin, end);
    case GatherMode::kElement: return gather_elements<Index, kBytes>(p, data, index, y, begin, end);
    case GatherMode::kNd: return gather_nd<Index, kBytes>(p, data, index, y, begin, end);
  }
  return {};
}

using PartFn = OutsideIndices (*)(const GatherPlan&, const std::byte*, const void*, std::byte*, int64_t, int64_t);
template <class Index>
PartFn choose_part(int64_t bytes) {
  switch (bytes) {
    case 1: return gather_part<Index, 1>;
    case 2: return gather_part<Index, 2>;
    case 4: return gather_part<Index, 4>;
    case 8: return gather_part<Index, 8>;
    default: return gather_part<Index, 0>;
  }
}

int64_t product(std::span<const int64_t> extents) { return volume(extents); }

void plan_default(const ops::Gather& gather, std::span<const int64_t> data, std::span<const int64_t> indices,
                  GatherPlan& plan) {
  const auto k = static_cast<size_t>(gather.num_elementwise_dims), axis = static_cast<size_t>(plan.axis);
  const int64_t in_data = product(data.first(k)), in_indices = product(indices.first(k));
  plan.batches = std::max(in_data, in_indices);
  if (in_data == 0 || in_indices == 0) plan.batches = 0;
  plan.outer = product(data.subspan(k, axis - k));
  plan.picks = product(indices.subspan(k));
  plan.extent = data[axis];
  plan.row_bytes = product(data.subspan(axis + 1)) * plan.element_bytes;
  plan.data_batch_bytes = in_data == 1 ? 0 : plan.outer * plan.extent * plan.row_bytes;
  plan.index_batch_step = in_indices == 1 ? 0 : plan.picks;
}

void plan_elements(std::span<const int64_t> data, std::span<const int64_t> indices, GatherPlan& plan) {
  plan.rank = static_cast<int>(data.size());
  plan.extent = data[static_cast<size_t>(plan.axis)];
  plan.picks = product(indices);
  plan.row_bytes = plan.element_bytes;
  const Extents strides = row_major_strides(data);
  for (size_t i = 0; i < data.size(); ++i) {
    plan.index_extents[i] = indices[i];
    plan.data_strides[i] = strides[i] * plan.element_bytes;
  }
}

void plan_nd(const ops::Gather& gather, std::span<const int64_t> data, std::span<const int64_t> indices,
             GatherPlan& plan) {
  const auto k = static_cast<size_t>(gather.num_elementwise_dims);
  const int64_t coordinates = indices.back();
  plan.rank = static_cast<int>(coordinates);
  plan.batches = product(indices.first(k));
  plan.picks = product(indices.subspan(k, indices.size() - 1 - k));
  plan.row_bytes = product(data.subspan(k + static_cast<size_t>(coordinates))) * plan.element_bytes;
  plan.data_batch_bytes = product(data.subspan(k)) * plan.element_bytes;
  const Extents strides = row_major_strides(data);
  for (size_t i = 0; i < static_cast<size_t>(coordinates); ++i) {
    plan.index_extents[i] = data[k + i];
    plan.data_strides[i] = strides[k + i] * plan.element_bytes;
  }
}

int64_t count_rows(const GatherPlan& plan) { return plan.batches * plan.outer * plan.picks; }

}  // namespace

Result<GatherPlan> plan_gather(const ops::Gather& gather, int element_bytes, bool wide_indices,
                               std::span<const int64_t> data, std::span<const int64_t> indices) {
  GatherPlan plan;
  plan.mode = gather.mode;
  plan.element_bytes = element_bytes;
  plan.wide_indices = wide_indices;
  if (gather.mode != GatherMode::kNd) plan.axis = TRY(normalize_axis(gather.axis, static_cast<int>(data.size())));
  if (gather.mode == GatherMode::kDefault) {
    const auto k = static_cast<size_t>(gather.num_elementwise_dims);
    bool same = true;
    for (size_t i = 0; i < k; ++i) same = same && data[i] == indices[i];
    if (!same && product(data.first(k)) != 1 && product(indices.first(k)) != 1)
      return error(Code::kUnsupported, "gather's elementwise axes broadcast data ", data, " and indices ", indices,
                   " one way in one axis and the other way in another");
    plan_default(gather, data, indices, plan);
  } else if (gather.mode == GatherMode::kElement) {
    plan_elements(data, indices, plan);
  } else {
    plan_nd(gather, data, indices, plan);
  }
  // Rows far apart miss the cache: a part of 32 KiB takes some microseconds.
  constexpr int64_t kPartBytes = 1 << 15, kRowCost = 32, kMostParts = 256;
  const int64_t rows = count_rows(plan);
  plan.parts = std::clamp<int64_t>(rows * (plan.row_bytes + kRowCost) / kPartBytes, 1,
                                   std::min(kMostParts, std::max<int64_t>(rows, 1)));
  return plan;
}

OutsideIndices run_gather(Team& team, const GatherPlan& plan, const void* data, const void* indices, void* y) {
  const PartFn part = plan.wide_indices ? choose_part<int64_t>(plan.row_bytes) : choose_part<int32_t>(plan.row_bytes);
  const auto* from = static_cast<const std::byte*>(data);
  auto* to = static_cast<std::byte*>(y);
  const int64_t rows = count_rows(plan);
  if (rows == 0) return {};
  if (plan.parts == 1) return part(plan, from, indices, to, 0, rows);
  std::mutex mutex;
  OutsideIndices outside;
  int64_t first_part = plan.parts;  // of those that met one
  team.run(plan.parts, [&](int64_t p, int) {
    OutsideIndices found = part(plan, from, indices, to, rows * p / plan.parts, rows * (p + 1) / plan.parts);
    if (found.count == 0) return;
    const std::lock_guard lock(mutex);
    if (p < first_part) {
      std::swap(found, outside);
      first_part = p;
    }
    outside.add(found);
  });
  return outside;
}

}  // namespace kiln::cpu
