#include <array>

#include "backend/cpu/kernels/copy/copy.h"

namespace kiln::cpu {
namespace {

/// A run of outputs along an axis: `repeats` times `count` elements from `start` by `step`, or that many fills.
struct Segment {
  int64_t to, count, start, step, repeats;
  bool filled;
};

/// Runs of one axis, as long as they come.
std::vector<Segment> segments(SliceMode mode, int64_t from, int64_t to, int64_t start, int64_t stride) {
  std::vector<Segment> result;
  const auto coordinate = [&](int64_t i) { return slice_coordinate(mode, start + i * stride, from); };
  for (int64_t i = 0; i < to;) {
    const int64_t first = coordinate(i);
    // Whole periods of a wrapped axis are one run: a tile repeated a thousand times is no thousand boxes.
    if (mode == SliceMode::kWrap && stride == 1 && first == 0 && to - i >= 2 * from) {
      const int64_t periods = (to - i) / from;
      result.push_back({i, from, 0, 1, periods, false});
      i += periods * from;
      continue;
    }
    int64_t end = i + 1;
    const int64_t step = end < to && first >= 0 && coordinate(end) >= 0 ? coordinate(end) - first : 0;
    const auto goes_on = [&](int64_t k) {
      const int64_t at = coordinate(k);
      return first < 0 ? at < 0 : at >= 0 && at == first + (k - i) * step;
    };
    while (end < to && goes_on(end)) ++end;
    result.push_back({i, end - i, first, step, 1, first < 0});
    i = end;
  }
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
    axes.push_back({s.repeats, 0, s.count * to});
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
