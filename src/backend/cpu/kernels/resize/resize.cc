#include "backend/cpu/kernels/resize/resize.h"

#include <array>
#include <cstring>

#include "backend/cpu/kernels/resize/row.h"

namespace kiln::cpu {
namespace {

/// The input rows that one output row is made of.
struct Sources {
  std::array<int64_t, kMostRowTaps> row;
  std::array<float, kMostRowTaps> weight;
  int count = 0;
  bool outside = false;  ///< all of the row lies outside x
};

/// Walks the taps of the outer axes of output row `at`, outermost last, multiplying out.
void find_sources(const ResizePlan& plan, int64_t at, Sources& sources) {
  sources.row[0] = 0;
  sources.weight[0] = 1;
  sources.count = 1;
  sources.outside = false;
  int64_t step = 1;  // of the current axis, in input rows
  for (size_t k = plan.axes.size() - 1; k-- > 0;) {
    const ResizeAxis& axis = plan.axes[k];
    const int64_t i = at % axis.out;
    at /= axis.out;
    if (!axis.outside.empty() && axis.outside[static_cast<size_t>(i)] != 0) sources.outside = true;
    // In place, the taps of this axis from the last to the first, so that no entry is overwritten before it is read.
    const int before = sources.count;
    int kept = 0;
    std::array<int, 4> used{};
    for (int t = 0; t < axis.taps; ++t)
      if (axis.weight[static_cast<size_t>(t * axis.out + i)] != 0) used[static_cast<size_t>(kept++)] = t;
    for (int u = kept - 1; u >= 0; --u) {
      const auto tap = static_cast<size_t>(used[static_cast<size_t>(u)] * axis.out + i);
      for (int s = 0; s < before; ++s) {
        const auto to = static_cast<size_t>(u * before + s), from = static_cast<size_t>(s);
        sources.row[to] = sources.row[from] + axis.index[tap] * step;
        sources.weight[to] = sources.weight[from] * axis.weight[tap];
      }
    }
    sources.count = kept * before;
    step *= axis.in;
  }
  for (int s = 0; s < sources.count; ++s) sources.row[static_cast<size_t>(s)] += at * step;  // `at` is the plane now
}

template <int kBytes>
struct Chunk {
  std::byte bytes[kBytes];
};
template <int kBytes>
void pick_elements(const ResizeAxis& axis, const std::byte* row, std::byte* to) {
  for (int64_t i = 0; i < axis.out; ++i) {
    Chunk<kBytes> chunk;
    std::memcpy(&chunk, row + static_cast<int64_t>(axis.index[static_cast<size_t>(i)]) * kBytes, kBytes);
    std::memcpy(to + i * kBytes, &chunk, kBytes);
  }
}
void pick(const ResizeAxis& axis, int64_t bytes, const std::byte* row, std::byte* to) {
  switch (bytes) {
    case 1: return pick_elements<1>(axis, row, to);
    case 2: return pick_elements<2>(axis, row, to);
    case 4: return pick_elements<4>(axis, row, to);
    case 8: return pick_elements<8>(axis, row, to);
    default:
      for (int64_t i = 0; i < axis.out; ++i)
        std::memcpy(to + i * bytes, row + axis.index[static_cast<size_t>(i)] * bytes, static_cast<size_t>(bytes));
  }
}

/// `count` elements of what lies outside x.
void extrapolate(const ResizePlan& plan, int64_t count, std::byte* to) {
  const auto bytes = static_cast<size_t>(plan.element_bytes);
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * plan.element_bytes, plan.extrapolated.data(), bytes);
}
/// Fills the elements of an output row that lie outside x along its last axis.
void extrapolate_ends(const ResizePlan& plan, std::byte* row) {
  const ResizeAxis& last = plan.axes.back();
  for (size_t i = 0; i < last.outside.size(); ++i)
    if (last.outside[i] != 0)
      extrapolate(plan, plan.inner, row + static_cast<int64_t>(i) * plan.inner * plan.element_bytes);
}

void nearest_rows(const ResizePlan& plan, const std::byte* x, std::byte* y, int64_t begin, int64_t end) {
  const ResizeAxis& last = plan.axes.back();
  const int64_t chunk = plan.inner * plan.element_bytes, in_row = last.in * chunk, out_row = last.out * chunk;
  Sources sources;
  int64_t before = -1;
  for (int64_t at = begin; at < end; ++at) {
    find_sources(plan, at, sources);
    std::byte* to = y + at * out_row;
    if (sources.outside) {
      extrapolate(plan, last.out * plan.inner, to);
      before = -1;
      continue;
    }
    if (sources.row[0] == before) {
      std::memcpy(to, to - out_row, static_cast<size_t>(out_row));
    } else {
      pick(last, chunk, x + sources.row[0] * in_row, to);
      extrapolate_ends(plan, to);
    }
    before = sources.row[0];
  }
}

void blended_rows(const ResizePlan& plan, const float* x, float* y, float* scratch, int64_t begin, int64_t end) {
  const ResizeAxis& last = plan.axes.back();
  const RowTaps taps{last.index.data(), last.weight.data(), last.taps,           last.in,
                     last.out,          plan.inner,         last.outside.empty()};
  const int64_t in_row = last.in * plan.inner, out_row = last.out * plan.inner;
  Sources sources;
  std::array<const float*, kMostRowTaps> rows;
  for (int64_t at = begin; at < end; ++at) {
    find_sources(plan, at, sources);
    auto* to = reinterpret_cast<std::byte*>(y + at * out_row);
    if (sources.outside) {
      extrapolate(plan, out_row, to);
      continue;
    }
    for (int s = 0; s < sources.count; ++s)
      rows[static_cast<size_t>(s)] = x + sources.row[static_cast<size_t>(s)] * in_row;
    const float* row = rows[0];
    if (sources.count != 1 || sources.weight[0] != 1) {
      blend_rows(rows.data(), sources.weight.data(), sources.count, in_row, scratch);
      row = scratch;
    }
    resample_row(taps, row, y + at * out_row);
    extrapolate_ends(plan, to);
  }
}

}  // namespace

void run_resize(Team& team, const ResizePlan& plan, const void* x, void* y, void* workspace) {
  const auto run_part = [&](int64_t part, int worker) {
    const int64_t begin = plan.rows * part / plan.parts, end = plan.rows * (part + 1) / plan.parts;
    if (plan.axes.empty()) {
      const int64_t row = plan.inner * plan.element_bytes;
      std::memcpy(static_cast<std::byte*>(y) + begin * row, static_cast<const std::byte*>(x) + begin * row,
                  static_cast<size_t>((end - begin) * row));
    } else if (plan.mode == ResizeMode::kNearest) {
      nearest_rows(plan, static_cast<const std::byte*>(x), static_cast<std::byte*>(y), begin, end);
    } else {
      blended_rows(plan, static_cast<const float*>(x), static_cast<float*>(y),
                   static_cast<float*>(workspace) + worker * plan.row_floats, begin, end);
    }
  };
  if (plan.rows == 0) return;
  if (plan.parts == 1) return run_part(0, 0);
  team.run(plan.parts, run_part);
}

}  // namespace kiln::cpu
