#include "backend/cpu/kernels/resize/resize.h"

#include <array>
#include <cstring>

#include "backend/cpu/kernels/resize/row.h"

namespace kiln::cpu {
namespace {

/// The input row that output row `at` of a nearest resize is; -1 outside x.
int64_t find_source(const ResizePlan& plan, int64_t at) {
  int64_t row = 0, step = 1;  // of the current axis, in input rows
  for (size_t k = plan.axes.size() - 1; k-- > 0;) {
    const ResizeAxis& axis = plan.axes[k];
    const auto i = static_cast<size_t>(at % axis.out);
    at /= axis.out;
    if (!axis.outside.empty() && axis.outside[i] != 0) return -1;
    row += axis.index[i] * step;
    step *= axis.in;
  }
  return row + at * step;  // `at` is the plane now
}

/// Sums the input rows that an output row is made of, all combinations of the outer axes' taps, innermost axis first.
class RowMixer {
 public:
  /// `scratch` holds a row of x.
  RowMixer(const ResizePlan& plan, const float* x, float* scratch)
      : plan_(plan), x_(x), scratch_(scratch), in_row_(plan.axes.back().in * plan.inner) {}

  /// The sum for output row `at`, in x or in scratch; null outside x.
  const float* mix(int64_t at) {
    count_ = 0;
    if (!add(plan_.axes.size() - 1, at, 1, 0, 1)) return nullptr;
    if (count_ == 1 && weights_[0] == 1) return rows_[0];
    flush();
    return scratch_;
  }

 private:
  /// Adds what the outer `num_axes` axes make of `row`, `step` rows being one element of the last of them.
  bool add(size_t num_axes, int64_t at, int64_t step, int64_t row, float weight) {
    if (num_axes == 0) {
      if (count_ == kRowsAtOnce) flush();
      rows_[count_] = x_ + (row + at * step) * in_row_;  // `at` is the plane now
      weights_[count_++] = weight;
      return true;
    }
    const ResizeAxis& axis = plan_.axes[num_axes - 1];
    const int64_t i = at % axis.out;
    if (!axis.outside.empty() && axis.outside[static_cast<size_t>(i)] != 0) return false;
    for (int t = 0; t < axis.taps; ++t) {
      const auto tap = static_cast<size_t>(t * axis.out + i);
      if (axis.weight[tap] == 0) continue;
      if (!add(num_axes - 1, at / axis.out, step * axis.in, row + axis.index[tap] * step, weight * axis.weight[tap]))
        return false;
    }
    return true;
  }
  /// Leaves the sum so far in scratch, as the one row.
  void flush() {
    blend_rows(rows_.data(), weights_.data(), static_cast<int>(count_), in_row_, scratch_);
    rows_[0] = scratch_;
    weights_[0] = 1;
    count_ = 1;
  }

  const ResizePlan& plan_;
  const float* x_;
  float* scratch_;
  int64_t in_row_;
  std::array<const float*, kRowsAtOnce> rows_;
  std::array<float, kRowsAtOnce> weights_;
  size_t count_ = 0;
};

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
  int64_t before = -1;
  for (int64_t at = begin; at < end; ++at) {
    const int64_t source = find_source(plan, at);
    std::byte* to = y + at * out_row;
    if (source < 0) {
      extrapolate(plan, last.out * plan.inner, to);
    } else if (source == before) {
      std::memcpy(to, to - out_row, static_cast<size_t>(out_row));
    } else {
      pick(last, chunk, x + source * in_row, to);
      extrapolate_ends(plan, to);
    }
    before = source;
  }
}

void blended_rows(const ResizePlan& plan, const float* x, float* y, float* scratch, int64_t begin, int64_t end) {
  const ResizeAxis& last = plan.axes.back();
  const RowTaps taps{last.index.data(), last.weight.data(), last.taps,           last.in,
                     last.out,          plan.inner,         last.outside.empty()};
  const int64_t out_row = last.out * plan.inner;
  RowMixer mixer(plan, x, scratch);
  for (int64_t at = begin; at < end; ++at) {
    auto* to = reinterpret_cast<std::byte*>(y + at * out_row);
    if (const float* row = mixer.mix(at)) {
      resample_row(taps, row, y + at * out_row);
      extrapolate_ends(plan, to);
    } else {
      extrapolate(plan, out_row, to);
    }
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
