#include "backend/cuda/kernels/resize/resize.h"

#include <algorithm>
#include <cmath>

#include "backend/cuda/kernels/resize/entries.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = 128;
constexpr size_t kTableAlign = 8;  // tables are loaded by vectors

void align_tables(ResizePlan& plan) {
  while (plan.index.size() % kTableAlign != 0) plan.index.push_back(0);
  while (plan.weight.size() % kTableAlign != 0) plan.weight.push_back(0);
}

/// Appends an axis's taps, tap t of output i at t * out + i. Returns how many taps an output has.
int append_taps(const ops::Resize& resize, int64_t in, int64_t out, const ResizeSpan& span, ResizePlan& plan) {
  if (resize_is_identity(in, out, span)) {
    for (int64_t i = 0; i < out; ++i) plan.index.push_back(static_cast<int32_t>(i));
    plan.weight.resize(plan.index.size(), 1.0F);
    return 1;
  }
  std::vector<ResizeTap> taps;
  find_resize_taps(resize, in, out, span, taps);
  const int per_output = resize_taps_per_output(resize, span.scale);
  for (int t = 0; t < per_output; ++t)
    for (int64_t i = 0; i < out; ++i) {
      const ResizeTap& tap = taps[static_cast<size_t>(i * per_output + t)];
      plan.index.push_back(static_cast<int32_t>(tap.index));
      plan.weight.push_back(static_cast<float>(tap.weight));
    }
  return per_output;
}

/// Makes the tables of bands along out[1] from those of its taps. Returns false if a band's rows lie too far apart in
/// x.
bool append_bands(ResizePlan& plan, int rows, int span) {
  const auto out = static_cast<size_t>(plan.out[1]), table = static_cast<size_t>(plan.argument.table[1]);
  const auto band_rows = static_cast<size_t>(rows), band_span = static_cast<size_t>(span);
  std::vector<int32_t> first_rows;  // and how many more
  std::vector<float> weights;
  for (size_t first = 0; first < out; first += band_rows) {
    const int32_t from = plan.index[table + first];
    int32_t more = 0;
    std::vector<float> band(band_rows * band_span, 0.0F);
    for (size_t row = first; row < std::min(first + band_rows, out); ++row)
      for (const size_t tap : {table + row, table + out + row}) {
        const int32_t at = plan.index[tap] - from;
        if (plan.weight[tap] == 0) continue;
        if (at < 0 || at >= span) return false;
        more = std::max(more, at);
        band[(row - first) * band_span + static_cast<size_t>(at)] += plan.weight[tap];
      }
    first_rows.insert(first_rows.end(), {from, more});
    weights.insert(weights.end(), band.begin(), band.end());
  }
  align_tables(plan);
  plan.bands.push_back({rows, span, static_cast<int32_t>(plan.index.size()), static_cast<int32_t>(plan.weight.size())});
  plan.index.insert(plan.index.end(), first_rows.begin(), first_rows.end());
  plan.weight.insert(plan.weight.end(), weights.begin(), weights.end());
  return true;
}

/// Whether the elements of an axis are what `doubling` says.
bool is_doubled(const ResizePlan& plan, size_t axis, ResizeDoubling doubling) {
  const auto table = static_cast<size_t>(plan.argument.table[axis]), out = static_cast<size_t>(plan.out[axis]);
  if (plan.argument.taps[axis] != 2 || out % 2 != 0) return false;
  const auto most = static_cast<int32_t>(out / 2 - 1);
  const bool centered = doubling == ResizeDoubling::kCentered;
  for (size_t i = 0; i < out; ++i) {
    const bool odd = i % 2 == 1;
    const auto nearest = static_cast<int32_t>(i / 2), next = std::clamp(nearest + (odd ? 1 : -1), 0, most);
    float share = centered ? 0.75F : odd ? 0.5F : 1.0F, weight = 0, other = 0;  // of the nearest; of the next
    for (const size_t tap : {table + i, table + out + i}) {
      if (plan.index[tap] == nearest)
        weight += plan.weight[tap];
      else if (plan.index[tap] == next)
        other += plan.weight[tap];
      else if (plan.weight[tap] != 0)
        return false;
    }
    if (nearest == next) share = 1;
    if (std::abs(weight - share) > 1e-6F || std::abs(other - (1 - share)) > 1e-6F) return false;
  }
  return true;
}

}  // namespace

Result<ResizePlan> plan_resize(const ops::Resize& resize, bool from_sizes, std::span<const int64_t> in,
                               std::span<const int64_t> out, const Format& format) {
  TRY(require(in.size() == out.size(), "a resize of ", in, " to ", out, " changes the rank"));
  const auto rank = static_cast<int>(in.size());
  const auto axis_at = [&](int position) { return static_cast<size_t>(format.axis_at(position)); };
  ResizePlan plan;
  if (volume(out) == 0) {
    plan.planes = 0;
    return plan;
  }
  TRY(require(volume(out) < (int64_t{1} << 31) - kThreads, "a resize to ", volume(out),
              " elements; 2^31 are too many"));
  TRY(require(volume(in) > 0, "a resize of ", in, ", which is empty, to ", out));
  std::vector<ResizeSpan> spans(in.size());
  TRY(find_resize_spans(resize, {from_sizes, {}, {}}, in, out, spans));
  for (size_t axis = 0; axis < in.size(); ++axis) {
    constexpr float kLeastScale = 1e-6F;
    constexpr int64_t kMostTaps = int64_t{1} << 26;
    const float scale = spans[axis].scale;
    TRY(require(in[axis] < int64_t{1} << 31 && scale >= kLeastScale && scale < 1 / kLeastScale &&
                    out[axis] * resize_taps_per_output(resize, scale) < kMostTaps,
                "a resize of ", in, " to ", out, " by ", scale, " along axis ", axis, " exceeds the kernels' limits"));
  }
  const auto whole = [&](int position) {
    const size_t axis = axis_at(position);
    return resize_is_identity(in[axis], out[axis], spans[axis]);
  };
  int first = 0, last = rank;
  while (last > 0 && whole(last - 1)) plan.inner *= in[axis_at(--last)];
  while (first < last && whole(first)) plan.planes *= in[axis_at(first++)];
  if (last - first > kMostResizedAxes)
    return error(Code::kUnsupported, "resize along ", last - first, " axes; kernels have ", kMostResizedAxes);
  ResizeArgument& a = plan.argument;
  int64_t stride = plan.inner;
  for (int i = 2; i >= 0; --i) {  // those that are there stand at the back
    const int position = last - 1 - (2 - i);
    align_tables(plan);
    a.table[i] = static_cast<int32_t>(plan.index.size());
    if (position < first) {
      plan.index.push_back(0);
      plan.weight.push_back(1);
      continue;
    }
    const size_t axis = axis_at(position);
    plan.out[i] = out[axis];
    a.taps[i] = append_taps(resize, in[axis], out[axis], spans[axis], plan);
    a.strides[i] = stride;
    stride *= in[axis];
  }
  a.plane = stride;
  if (resize.mode == ResizeMode::kLinear && a.taps[0] == 1 && a.taps[1] == 2 && a.taps[2] == 2)
    for (const auto& [rows, span] : kResizeBands)
      if (!append_bands(plan, rows, span)) break;
  if (resize.mode == ResizeMode::kLinear && a.taps[0] == 1)
    for (const auto doubling : {ResizeDoubling::kCentered, ResizeDoubling::kFromFirst})
      if (is_doubled(plan, 1, doubling) && is_doubled(plan, 2, doubling)) plan.doubling = doubling;
  return plan;
}

namespace {

/// Whether threads with `rows` rows each are enough to fill the device. `across` threads share a band.
bool are_many(const ResizePlan& plan, int64_t rows, int64_t across, int num_sms) {
  constexpr int64_t kManyThreads = 1024;  // of a multiprocessor: below, more of
                                          // them count for more than their work
  return plan.planes * plan.out[0] * ((plan.out[1] + rows - 1) / rows) * across >= kManyThreads * num_sms;
}

/// A launch of threads that have a band each, or a row; `across` of them share it.
ResizeLaunch launch_of(const ResizePlan& plan, std::string entry, int64_t bands, int64_t across) {
  ResizeLaunch launch{std::move(entry), {}, plan.argument};
  ResizeArgument& a = launch.argument;
  a.bands = divisor_of(bands);
  for (size_t i = 0; i < 3; ++i) a.out[i] = divisor_of(plan.out[i]);
  a.count = static_cast<uint32_t>(plan.planes * plan.out[0] * bands * across);
  launch.shape.block[0] = kThreads;
  launch.shape.grid[0] = static_cast<uint32_t>((a.count + kThreads - 1) / kThreads);
  launch.shape.pdl = true;
  return launch;
}

/// A launch in vectors of `width`; 1 where columns lie together.
ResizeLaunch launch_of(const ResizePlan& plan, ResizeMode mode, int element_bytes, int width, int num_sms) {
  const int64_t across = plan.out[2] * (plan.inner / width);
  const ResizeBands* bands = nullptr;
  const ResizeBands nearest{kResizeRowsOfNearest, 0, 0, 0};
  if (mode == ResizeMode::kNearest && are_many(plan, kResizeRowsOfNearest, across, num_sms)) bands = &nearest;
  for (const ResizeBands& some : plan.bands)
    if (some.rows == 1 || are_many(plan, some.rows, across, num_sms)) bands = &some;
  ResizeLaunch launch = bands ? launch_of(plan, resize_band_entry(width, bands->rows),
                                          (plan.out[1] + bands->rows - 1) / bands->rows, across)
                              : launch_of(plan, resize_entry(width), plan.out[1], across);
  ResizeArgument& a = launch.argument;
  if (bands) a.first_rows = bands->first_rows, a.band_weights = bands->weights;
  a.inner = divisor_of(plan.inner / width);
  a.width = width;
  if (mode == ResizeMode::kNearest) {
    a.width = 1;  // offsets count units
    a.plane /= width;
    for (int64_t& stride : a.strides) stride /= width;
  }
  launch.align = int64_t{width} * element_bytes;
  return launch;
}

/// Threads of a block: fewer than usual if fewer of them then have no column.
uint32_t threads_for(int64_t columns) {
  constexpr int64_t kFewer = kThreads * 3 / 4;
  const auto idle = [&](int64_t threads) {  // of a row's, or of those that share several
    return columns > threads ? (columns + threads - 1) / threads * threads - columns : threads % columns;
  };
  return static_cast<uint32_t>(idle(kFewer) * kThreads < idle(kThreads) * kFewer ? kFewer : kThreads);
}
/// A launch of bilinear sampling where columns lie together; none where strips are few or small.
std::optional<ResizeLaunch> strips_launch(const ResizePlan& plan, int element_bytes, int num_sms) {
  constexpr int64_t kMostFloats = 4096, kFewestOutputs = 1024;  // of a strip
  const int64_t width = plan.argument.strides[1];
  if (plan.bands.empty() || plan.inner > 1 || width > kMostFloats || width % kResizeVecOfStrips != 0)
    return std::nullopt;
  const int64_t most = kMostFloats / width, strips = (plan.out[1] + most - 1) / most;
  const int64_t rows = (plan.out[1] + strips - 1) / strips;
  if (plan.planes * strips < 2 * num_sms || rows * plan.out[2] < kFewestOutputs) return std::nullopt;
  ResizeLaunch launch = launch_of(plan, std::string(kResizeStripsEntry), strips, 1);
  launch.argument.inner = divisor_of(width / kResizeVecOfStrips);
  launch.argument.strip = static_cast<int32_t>(rows);
  launch.shape.block[0] = threads_for(plan.out[2]);
  launch.shape.grid[0] = grid_blocks(plan.planes * strips);
  launch.shape.shared_bytes = static_cast<uint32_t>(rows * (width * 4 + 16));  // what is mixed; what a row is mixed of
  launch.align = kResizeVecOfStrips * element_bytes;
  return launch;
}

}  // namespace

std::vector<ResizeLaunch> resize_launches(const ResizePlan& plan, ResizeMode mode, int element_bytes, int width,
                                          int num_sms) {
  if (plan.planes == 0) {
    ResizeLaunch nothing{resize_entry(1), {}, {}};
    nothing.shape.grid[0] = 0;
    return {nothing};
  }
  std::vector<ResizeLaunch> launches;
  if (const int64_t piece = 16 / element_bytes; plan.doubling && plan.inner == 1 && plan.out[2] % piece == 0) {
    const int64_t pieces = plan.out[2] / piece,
                  bands = (plan.out[1] / 2 + kResizeRowsOfDoubling - 1) / kResizeRowsOfDoubling;
    const auto doubling = static_cast<size_t>(*plan.doubling);
    launches.push_back(launch_of(plan, std::string(kResizeDoublingEntries[doubling]), bands, pieces));
    launches.back().argument.inner = divisor_of(pieces);
    launches.back().align = 16;
  }
  if (mode == ResizeMode::kLinear)
    if (auto strips = strips_launch(plan, element_bytes, num_sms)) launches.push_back(std::move(*strips));
  const int pack = resize_pack(mode, element_bytes), rows = kResizeRowsOfNearest;
  const bool has_bands = mode == ResizeMode::kNearest ? pack > 1 : plan.bands.size() == std::size(kResizeBands);
  if (const int64_t packs = plan.out[2] / pack;
      plan.inner == 1 && has_bands && plan.out[2] % pack == 0 && are_many(plan, rows, packs, num_sms)) {
    launches.push_back(launch_of(plan, std::string(kResizeLinesEntry), (plan.out[1] + rows - 1) / rows, packs));
    ResizeArgument& a = launches.back().argument;
    a.inner = divisor_of(packs);
    if (!plan.bands.empty()) a.first_rows = plan.bands.back().first_rows, a.band_weights = plan.bands.back().weights;
    launches.back().align = int64_t{pack} * element_bytes;
  }
  if (width > 1 && plan.inner % width == 0) launches.push_back(launch_of(plan, mode, element_bytes, width, num_sms));
  launches.push_back(launch_of(plan, mode, element_bytes, 1, num_sms));
  return launches;
}

}  // namespace kiln::cuda
