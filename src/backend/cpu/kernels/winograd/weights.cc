#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/winograd/transform.h"
#include "backend/cpu/kernels/winograd/winograd.h"

namespace kiln::cpu {
namespace {

constexpr int kMostTaps = 5, kMostLinePoints = 8;

struct Point {
  double at, factor;  ///< a row of G is factor * (1, at, at^2, ...)
};
constexpr Point kSixPoints[] = {{0, 1.0 / 4}, {1, -1.0 / 6}, {-1, -1.0 / 6}, {2, 1.0 / 24}, {-2, 1.0 / 24}};
constexpr Point kEightPoints[] = {{0, 1},         {1, -2.0 / 9},    {-1, -2.0 / 9},   {2, 1.0 / 90},
                                  {-2, 1.0 / 90}, {0.5, 32.0 / 45}, {-0.5, 32.0 / 45}};

/// G g of a row of taps `step` apart: a value for each point, infinity the last. One tap is its own transform.
int transform_line(const double* g, int taps, int step, double* out) {
  if (taps == 1) return out[0] = g[0], 1;
  const std::span<const Point> points = taps == 3 ? std::span<const Point>(kSixPoints) : kEightPoints;
  for (const Point& point : points) {
    double sum = 0, power = point.factor;
    for (int i = 0; i < taps; ++i, power *= point.at) sum += power * g[i * step];
    *out++ = sum;
  }
  *out = g[(taps - 1) * step];
  return static_cast<int>(points.size()) + 1;
}

/// G g G^T of one kernel [down][across], rounded once.
void transform(const float* weights, int down, int across, float* out, ptrdiff_t point_stride) {
  double g[kMostTaps * kMostTaps], half[kMostTaps][kMostLinePoints], column[kMostTaps], line[kMostLinePoints];
  for (int i = 0; i < down * across; ++i) g[i] = weights[i];
  int points_across = 0;
  for (int y = 0; y < down; ++y) points_across = transform_line(g + y * across, across, 1, half[y]);
  for (int x = 0; x < points_across; ++x) {
    for (int y = 0; y < down; ++y) column[y] = half[y][x];
    const int points_down = transform_line(column, down, 1, line);
    for (int y = 0; y < points_down; ++y) out[(y * points_across + x) * point_stride] = static_cast<float>(line[y]);
  }
}

}  // namespace

Result<PackedWinograd> pack_winograd(const ConvWeights& of, const float* weights) {
  const int64_t panel = tiling().panel, point = packed_size(1, of.ic, of.oc);
  const int64_t down = of.kernel[1], across = of.kernel[2];
  const auto points_of = [](int64_t taps) { return taps > 1 ? taps + kWinogradOut - 1 : 1; };
  const int64_t points = points_of(down) * points_of(across);
  PackedWinograd result{of.ic, of.oc, {1, of.ic, of.oc, points, panel, {}}, {}};
  result.b.data = TRY(AlignedFloats::zeros(points * point));
  for (int64_t o = 0; o < of.oc;
       ++o)  // to where pack_b would bring it: these are many times the weights, no second copy
    for (int64_t i = 0; i < of.ic; ++i)
      transform(weights + (o * of.ic + i) * down * across, static_cast<int>(down), static_cast<int>(across),
                result.b.data.data() + (o / panel * of.ic + i) * panel + o % panel, point);
  result.zeros = TRY(AlignedFloats::zeros(of.ic));
  return result;
}

}  // namespace kiln::cpu
