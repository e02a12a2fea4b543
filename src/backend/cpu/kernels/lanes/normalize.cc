#include "backend/cpu/kernels/lanes/normalize.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/targets.h"
#include "base/error.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/lanes/normalize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/lanes/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kElementsAPart = 8192;

/// y = (x - mean) * factor.
struct Statistics {
  float mean = 0, factor = 1;
};

/// Normalises contiguous elements. Two walks, the second over a row that is in cache: the difference of two large sums
/// would lose the variance of data far from zero.
template <DType T>
HWY_INLINE Statistics statistics(const Stored<T>* x, int64_t length, double epsilon, Centering centering) {
  const auto count = static_cast<double>(length);
  Statistics result;
  if (centering == Centering::kMean)
    result.mean = static_cast<float>(sum_of<T>(x, length, [](V e) { return e; }) / count);
  const V mean = hn::Set(D(), result.mean);
  const double squares = sum_of<T>(x, length, [&](V e) {
    const V difference = hn::Sub(e, mean);
    return hn::Mul(difference, difference);
  });
  result.factor = static_cast<float>(1 / std::sqrt(squares / count + epsilon));
  return result;
}

template <DType T>
void layer_row(const RowNorm& s, const Stored<T>* x, const float* scale, const float* bias, Stored<T>* y) {
  const D d;
  const Statistics stats = statistics<T>(x, s.length, s.epsilon, s.centering);
  const V mean = hn::Set(d, stats.mean), factor = hn::Set(d, stats.factor);
  for_each_vector<T>(x, s.length, [&](V e, int64_t i, int count) {
    V value = hn::Mul(hn::Sub(e, mean), factor);
    if (scale) value = hn::Mul(value, load<DType::kF32>(scale + i, count));
    if (bias) value = hn::Add(value, load<DType::kF32>(bias + i, count));
    store<T>(value, y + i, count);
  });
}

/// One group of [channels, plane]: contiguous, with one scale and bias a channel.
template <DType T>
void group(const GroupNorm& s, int64_t channels, const Stored<T>* x, const float* scale, const float* bias,
           Stored<T>* y) {
  const D d;
  const Statistics stats = statistics<T>(x, channels * s.plane, s.epsilon, s.centering);
  const V mean = hn::Set(d, stats.mean);
  for (int64_t c = 0; c < channels; ++c) {
    const V factor = hn::Set(d, scale ? stats.factor * scale[c] : stats.factor);
    const V shift = hn::Set(d, bias ? bias[c] : 0);
    for_each_vector<T>(x + c * s.plane, s.plane, [&](V e, int64_t i, int count) {
      store<T>(hn::MulAdd(hn::Sub(e, mean), factor, shift), y + c * s.plane + i, count);
    });
  }
}

/// [plane, channels], in phases over chunks of the plane: sums a channel, deviations a channel, the result.
struct Nhwc {
  static constexpr int64_t kMostChunks = 32;
  const GroupNorm& shape;
  int64_t chunks, each;                                                         // of the plane, and pixels in one
  int64_t stride;                                                               // of a row of the workspace
  float *sums = nullptr, *mean = nullptr, *factor = nullptr, *shift = nullptr;  // [chunks, stride], then [stride] each

  Nhwc(const GroupNorm& s, void* workspace) : shape(s) {
    chunks = std::clamp<int64_t>(s.plane * s.channels / kElementsAPart, 1, kMostChunks);
    each = ceil_div(s.plane, chunks);
    stride = round_up(s.channels, 16);
    if (!workspace) return;  // only its size is wanted
    sums = static_cast<float*>(workspace);
    mean = sums + chunks * stride;
    factor = mean + stride;
    shift = factor + stride;
  }
  int64_t floats() const { return (chunks + 3) * stride; }
  int64_t begin(int64_t chunk) const { return std::min(shape.plane, chunk * each); }
  int64_t end(int64_t chunk) const { return std::min(shape.plane, (chunk + 1) * each); }
};

/// Sums of f(x, first channel of the vector) over pixels [begin, end), for kVectors vectors of channels from `c` on.
template <DType T, int kVectors, class F>
HWY_INLINE void strip_sums(const Nhwc& at, const Stored<T>* x, int64_t begin, int64_t end, int64_t c, int tail, F f,
                           float* sums) {
  constexpr int64_t kPixelsBetweenTotals = 64;
  const D d;
  V total[kVectors];
  for (int v = 0; v < kVectors; ++v) total[v] = hn::Zero(d);
  for (int64_t from = begin; from < end; from += kPixelsBetweenTotals) {
    V part[kVectors];
    for (int v = 0; v < kVectors; ++v) part[v] = hn::Zero(d);
    for (int64_t p = from; p < std::min(end, from + kPixelsBetweenTotals); ++p)
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const int count = v == kVectors - 1 ? tail : kLanes;
        part[v] = hn::Add(part[v], f(load<T>(x + p * at.shape.channels + c + v * kLanes, count), c + v * kLanes));
      }
    for (int v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], part[v]);
  }
  for (int v = 0; v < kVectors; ++v)
    store<DType::kF32>(total[v], sums + c + v * kLanes, v == kVectors - 1 ? tail : kLanes);
}

/// The same over a chunk's pixels, for all channels.
template <DType T, class F>
void channel_sums(const Nhwc& at, const Stored<T>* x, int64_t chunk, F f) {
  const int64_t channels = at.shape.channels, begin = at.begin(chunk), end = at.end(chunk);
  float* sums = at.sums + chunk * at.stride;
  int64_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) strip_sums<T, 4>(at, x, begin, end, c, kLanes, f, sums);
  for (; c < channels; c += kLanes)
    strip_sums<T, 1>(at, x, begin, end, c, static_cast<int>(std::min<int64_t>(kLanes, channels - c)), f, sums);
}

/// Each group's sum over chunks and its channels, handed to `put(group, sum)`.
template <class Put>
void group_sums(const Nhwc& at, Put put) {
  const int64_t channels = at.shape.channels / at.shape.groups;
  for (int64_t g = 0; g < at.shape.groups; ++g) {
    double sum = 0;
    for (int64_t chunk = 0; chunk < at.chunks; ++chunk)
      for (int64_t c = g * channels; c < (g + 1) * channels; ++c)
        sum += static_cast<double>(at.sums[chunk * at.stride + c]);
    put(g, sum);
  }
}

template <DType T>
void image(Team& team, const Nhwc& at, const Stored<T>* x, const float* scale, const float* bias, Stored<T>* y) {
  const GroupNorm& s = at.shape;
  const int64_t channels = s.channels / s.groups;
  const double count = static_cast<double>(channels * s.plane);
  std::fill_n(at.mean, at.stride, 0.0f);
  if (s.centering == Centering::kMean) {
    team.run(at.chunks, [&](int64_t chunk, int) { channel_sums<T>(at, x, chunk, [](V e, int64_t) { return e; }); });
    group_sums(at, [&](int64_t g, double sum) {
      std::fill_n(at.mean + g * channels, channels, static_cast<float>(sum / count));
    });
  }
  team.run(at.chunks, [&](int64_t chunk, int) {
    channel_sums<T>(at, x, chunk, [&](V e, int64_t c) {
      const V difference = hn::Sub(e, hn::LoadU(D(), at.mean + c));  // rows of the workspace are whole vectors
      return hn::Mul(difference, difference);
    });
  });
  group_sums(at, [&](int64_t g, double squares) {
    const auto factor = static_cast<float>(1 / std::sqrt(squares / count + s.epsilon));
    for (int64_t c = g * channels; c < (g + 1) * channels; ++c) {
      at.factor[c] = scale ? factor * scale[c] : factor;
      at.shift[c] = bias ? bias[c] : 0;
    }
  });
  team.run(at.chunks, [&](int64_t chunk, int) {
    for (int64_t p = at.begin(chunk); p < at.end(chunk); ++p)
      for_each_vector<T>(x + p * s.channels, s.channels, [&](V e, int64_t c, int some) {
        const V difference = hn::Sub(e, hn::LoadU(D(), at.mean + c));
        store<T>(hn::MulAdd(difference, hn::LoadU(D(), at.factor + c), hn::LoadU(D(), at.shift + c)),
                 y + p * s.channels + c, some);
      });
  });
}

/// `call` with a type as template argument.
template <class Call>
void of_type(DType dtype, Call call) {
  switch (dtype) {
    case DType::kF32: return call.template operator()<DType::kF32>();
    case DType::kF16: return call.template operator()<DType::kF16>();
    case DType::kBF16: return call.template operator()<DType::kBF16>();
    default: CHECK(!"normalisation of a type other than f32, f16 and bf16");
  }
}

void run_rows(Team& team, const RowNorm& s, const void* x, const float* scale, const float* bias, void* y) {
  of_type(s.dtype, [&]<DType T>() {
    const int64_t each = std::max<int64_t>(1, kElementsAPart / s.length);
    team.run(ceil_div(s.rows, each), [&](int64_t part, int) {
      for (int64_t r = part * each; r < std::min(s.rows, (part + 1) * each); ++r)
        layer_row<T>(s, static_cast<const Stored<T>*>(x) + r * s.length, scale, bias,
                     static_cast<Stored<T>*>(y) + r * s.length);
    });
  });
}

void run_nchw(Team& team, const GroupNorm& s, const void* x, const float* scale, const float* bias, void* y) {
  of_type(s.dtype, [&]<DType T>() {
    const int64_t channels = s.channels / s.groups, length = channels * s.plane, rows = s.n * s.groups;
    const int64_t each = std::max<int64_t>(1, kElementsAPart / length);
    team.run(ceil_div(rows, each), [&](int64_t part, int) {
      for (int64_t r = part * each; r < std::min(rows, (part + 1) * each); ++r) {
        const int64_t c = r % s.groups * channels;
        group<T>(s, channels, static_cast<const Stored<T>*>(x) + r * length, scale ? scale + c : nullptr,
                 bias ? bias + c : nullptr, static_cast<Stored<T>*>(y) + r * length);
      }
    });
  });
}

void run_nhwc(Team& team, const GroupNorm& s, const void* x, const float* scale, const float* bias, void* y,
              void* workspace) {
  of_type(s.dtype, [&]<DType T>() {
    const int64_t size = s.plane * s.channels;
    const Nhwc at(s, workspace);
    for (int64_t n = 0; n < s.n; ++n)
      image<T>(team, at, static_cast<const Stored<T>*>(x) + n * size, scale, bias,
               static_cast<Stored<T>*>(y) + n * size);
  });
}

int64_t nhwc_floats(const GroupNorm& s) { return Nhwc(s, nullptr).floats(); }

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

void normalize_rows(Team& team, const RowNorm& shape, const void* x, const float* scale, const float* bias, void* y) {
  if (shape.rows == 0 || shape.length == 0) return;
  KILN_DISPATCH(run_rows)(team, shape, x, scale, bias, y);
}

void normalize_nchw(Team& team, const GroupNorm& shape, const void* x, const float* scale, const float* bias, void* y) {
  if (shape.n == 0 || shape.channels == 0 || shape.plane == 0) return;
  KILN_DISPATCH(run_nchw)(team, shape, x, scale, bias, y);
}

int64_t normalize_nhwc_workspace(const GroupNorm& shape) { return 4 * KILN_DISPATCH(nhwc_floats)(shape); }

void normalize_nhwc(Team& team, const GroupNorm& shape, const void* x, const float* scale, const float* bias, void* y,
                    void* workspace) {
  if (shape.n == 0 || shape.channels == 0 || shape.plane == 0) return;
  KILN_DISPATCH(run_nhwc)(team, shape, x, scale, bias, y, workspace);
}

}  // namespace kiln::cpu
#endif
