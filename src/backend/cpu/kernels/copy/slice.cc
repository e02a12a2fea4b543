#include <algorithm>
#include <array>
#include <numeric>

#include "backend/cpu/kernels/copy/copy.h"

namespace kiln::cpu {
namespace {

/// A run of outputs along an axis: `count` elements from `start` by `step`, or `count` fills. The run stands `repeats`
/// times, `every` outputs apart.
struct Segment {
  int64_t to, count, start, step;
  bool filled;
  int64_t repeats = 1, every = 0;
};

/// n / -step for n >= 0 and step < 0, whose negation may not be a number.
int64_t quotient(int64_t n, int64_t step) { return -(n / step); }

/// How many of `count` positions from `at` on, by `step`, lie inside [0, extent); the first does.
int64_t num_inside(int64_t at, int64_t step, int64_t extent, int64_t count) {
  if (step == 0 || count == 1) return count;
  return std::min(count - 1, step > 0 ? (extent - 1 - at) / step : quotient(at, step)) + 1;
}

/// How many of `count` positions from `at` on, by `step`, lie outside [0, extent) on the same side; the first does.
int64_t num_outside(int64_t at, int64_t step, int64_t extent, int64_t count) {
  if (count == 1) return count;
  if (at < 0 && step > 0) return std::min(count - 1, -(at + 1) / step) + 1;
  if (at >= extent && step < 0) return std::min(count - 1, quotient(at - extent, step)) + 1;
  return count;
}

/// Whether elements are met in falling order as the position rises, in an axis that is mirrored at its ends.
bool runs_backwards(int64_t at, int64_t extent) {
  const int64_t period = 2 * (extent - 1);
  return (at % period + period) % period >= extent;
}

/// The run that begins at output `i`, position `at` of the axis, of at most `count` outputs.
Segment run_from(SliceMode mode, int64_t from, int64_t i, int64_t at, int64_t stride, int64_t count) {
  const int64_t first = slice_coordinate(mode, at, from);
  const bool is_inside = at >= 0 && at < from, comes_round = mode == SliceMode::kWrap || mode == SliceMode::kReflect;
  if (!is_inside && !comes_round) return {i, num_outside(at, stride, from, count), first, 0, first < 0};
  if (comes_round && from == 1) return {i, count, 0, 0, false};
  const bool backwards = mode == SliceMode::kReflect && runs_backwards(at, from);
  const int64_t step = backwards ? -stride : stride;
  return {i, num_inside(first, step, from, count), first, step, false};
}

/// The number of outputs after which an axis is read at the same places again; 0: it does not come round.
int64_t period_of(SliceMode mode, int64_t from, int64_t stride) {
  if ((mode != SliceMode::kWrap && mode != SliceMode::kReflect) || from <= 1 || stride == 0) return 0;
  const int64_t around = mode == SliceMode::kWrap ? from : 2 * (from - 1);
  return around / std::gcd(around, stride % around);
}

/// Runs of one axis, found without walking along it: it may be as long as memory. Periods that come again are runs that
/// repeat: a tile repeated a thousand times is no thousand boxes.
std::vector<Segment> segments(SliceMode mode, int64_t from, int64_t to, int64_t start, int64_t stride) {
  const int64_t period = period_of(mode, from, stride);
  std::vector<Segment> result;
  int64_t i = 0;
  const auto add_runs = [&](int64_t end, int64_t repeats, int64_t every) {
    while (i < end) {
      Segment run = run_from(mode, from, i, start + i * stride, stride, end - i);
      i += run.count;
      run.repeats = repeats;
      run.every = every;
      result.push_back(run);
    }
  };
  // Periods begin where a run does, so that a whole one of a wrapped axis is one run.
  const bool is_aligned = mode == SliceMode::kWrap && slice_coordinate(mode, start, from) == 0;
  if (period > 0 && !is_aligned && to > 0) add_runs(run_from(mode, from, 0, start, stride, to).count, 1, 0);
  if (period > 0 && (to - i) / period >= 2) {
    const int64_t first = i, periods = (to - i) / period;
    add_runs(i + period, periods, period);
    i = first + periods * period;
  }
  add_runs(to, 1, 0);
  return result;
}

/// The box where every axis stands in one of its segments.
Box segment_box(int element_bytes, std::span<const Segment* const> at, const Extents& from_strides,
                const Extents& to_strides) {
  bool filled = false;
  for (const Segment* segment : at) filled = filled || segment->filled;
  std::vector<BoxAxis> axes;
  ptrdiff_t from_offset = 0, to_offset = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const Segment& s = *at[i];
    const int64_t by = filled ? 0 : from_strides[i] * element_bytes, to = to_strides[i] * element_bytes;
    axes.push_back({s.repeats, 0, s.every * to});
    axes.push_back({s.count, s.step * by, to});
    from_offset += filled ? 0 : s.start * by;
    to_offset += s.to * to;
  }
  return make_box(element_bytes, axes, from_offset, to_offset, filled ? 1 : 0);
}

}  // namespace

Copy plan_slice(int element_bytes, SliceMode mode, std::span<const int64_t> from, std::span<const int64_t> to,
                std::span<const int64_t> starts, std::span<const int64_t> strides) {
  if (volume(to) == 0) return {};
  const Extents from_strides = row_major_strides(from), to_strides = row_major_strides(to);
  std::vector<std::vector<Segment>> runs;
  for (size_t i = 0; i < to.size(); ++i) {
    runs.push_back(segments(mode, from[i], to[i], starts[i], strides[i]));
    for (const Segment& segment : runs.back()) CHECK(!segment.filled || mode == SliceMode::kFill);
  }
  std::vector<size_t> index(to.size(), 0);
  std::vector<const Segment*> at(to.size());
  std::vector<Box> boxes;
  for (bool more = true; more;) {
    for (size_t i = 0; i < at.size(); ++i) at[i] = &runs[i][index[i]];
    boxes.push_back(segment_box(element_bytes, at, from_strides, to_strides));
    more = false;
    for (size_t i = index.size(); i-- > 0 && !more;) {
      more = ++index[i] < runs[i].size();
      if (!more) index[i] = 0;
    }
  }
  return make_copy(std::move(boxes));
}

}  // namespace kiln::cpu
