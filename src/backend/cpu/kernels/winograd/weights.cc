#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/winograd/transform.h"
#include "backend/cpu/kernels/winograd/winograd.h"

namespace kiln::cpu {
namespace {

constexpr double kG[6][3] = {{1.0 / 4, 0, 0},
                             {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                             {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                             {1.0 / 24, 1.0 / 12, 1.0 / 6},
                             {1.0 / 24, -1.0 / 12, 1.0 / 6},
                             {0, 0, 1}};

/// G g G^T of one 3x3 kernel, rounded once.
void transform(const float* g, float* out, ptrdiff_t point_stride) {
  double half[6][3];
  for (int i = 0; i < 6; ++i)
    for (int x = 0; x < 3; ++x) half[i][x] = kG[i][0] * g[x] + kG[i][1] * g[3 + x] + kG[i][2] * g[6 + x];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      out[(i * 6 + j) * point_stride] =
          static_cast<float>(half[i][0] * kG[j][0] + half[i][1] * kG[j][1] + half[i][2] * kG[j][2]);
}

}  // namespace

Result<PackedWinograd> pack_winograd(int64_t ic, int64_t oc, const float* weights) {
  const int64_t panel = tiling().panel, point = packed_size(1, ic, oc);
  PackedWinograd result{ic, oc, {1, ic, oc, kWinogradPoints, panel, {}}, {}};
  result.b.data = TRY(AlignedFloats::zeros(kWinogradPoints * point));
  for (int64_t o = 0; o < oc; ++o)  // to where pack_b would bring it: these are four times the weights, no second copy
    for (int64_t i = 0; i < ic; ++i)
      transform(weights + (o * ic + i) * 9, result.b.data.data() + (o / panel * ic + i) * panel + o % panel, point);
  result.zeros = TRY(AlignedFloats::zeros(ic));
  return result;
}

}  // namespace kiln::cpu
