#include "backend/cpu/kernels/gemm8/winograd.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::cpu {
namespace {

constexpr int64_t kWide = 16;  // numbers of a vector
constexpr int kSide = 4;       // of a tile

/// Twice the transformation of three weights along an axis.
std::array<int, kSide> transformed(int a, int b, int c) { return {2 * a, a + b + c, a - b + c, 2 * c}; }

/// Four times the transformed weights of channel c and column j.
std::array<int, kPositions> transformed_weights(const PackedBytes& w, int64_t channels, int64_t c, int64_t j) {
  const auto weight = [&](int64_t y, int64_t x) {
    return int{w.taps == 3 ? w.at(y, x * channels + c, j) : w.at(y * 3 + x, c, j)};  // 3 taps: rows of pixels
  };
  std::array<std::array<int, kSide>, 3> rows;
  for (int64_t y = 0; y < 3; ++y) rows[static_cast<size_t>(y)] = transformed(weight(y, 0), weight(y, 1), weight(y, 2));
  std::array<int, kPositions> result;
  for (size_t x = 0; x < kSide; ++x) {
    const auto column = transformed(rows[0][x], rows[1][x], rows[2][x]);
    for (size_t y = 0; y < kSide; ++y) result[y * kSide + x] = column[y];
  }
  return result;
}

}  // namespace

bool suits_winograd(const Window& window, int64_t channels, int64_t columns) {
  constexpr int64_t kLeastChannels = 12;  // fewer do not pay
  bool suits = uses_half_panels() && channels >= kLeastChannels && channels <= kMostDepth && columns >= kWide;
  suits &= window.kernel[0] == 1 && window.in[0] == 1 && window.out[0] == 1 && window.pad[0] == 0;
  for (int axis = 1; axis < 3; ++axis)
    suits &= window.kernel[axis] == 3 && window.stride[axis] == 1 && window.dilation[axis] == 1;
  return suits;
}

int64_t winograd_depth(int64_t channels) { return round_up(channels, kWide); }

Status transform_weights(PackedBytes& w, int64_t channels) {
  const int64_t depth = winograd_depth(channels), of_position = depth * kHalfColumns;
  const int64_t halves = ceil_div(w.n, kHalfColumns);
  w.transformed = TRY(AlignedFloats::zeros(halves * kPositions * of_position / 2));
  auto* const to = reinterpret_cast<int16_t*>(w.transformed.data());
  for (int64_t j = 0; j < w.n; ++j)
    for (int64_t c = 0; c < channels; ++c) {
      const auto numbers = transformed_weights(w, channels, c, j);
      for (int64_t p = 0; p < kPositions; ++p)
        to[(j / kHalfColumns * kPositions + p) * of_position + (c / 2 * kHalfColumns + j % kHalfColumns) * 2 + c % 2] =
            static_cast<int16_t>(numbers[static_cast<size_t>(p)]);
    }
  return {};
}

#if defined(__x86_64__)
namespace {

template <bool kSigned>
__attribute__((target("avx2"))) void transform(const TransformTile& t, int16_t* to) {
  for (int64_t c = 0; c < t.depth; c += kWide) {
    __m256i rows[kSide][kSide];  // transformed along x
#pragma GCC unroll 4
    for (int y = 0; y < kSide; ++y) {
      __m256i d[kSide];
#pragma GCC unroll 4
      for (int x = 0; x < kSide; ++x) {
        const auto* const pixel = reinterpret_cast<const __m128i*>(t.from + y * t.row_step + x * t.channels + c);
        d[x] = kSigned ? _mm256_cvtepi8_epi16(_mm_loadu_si128(pixel)) : _mm256_cvtepu8_epi16(_mm_loadu_si128(pixel));
      }
      rows[y][0] = _mm256_sub_epi16(d[0], d[2]);
      rows[y][1] = _mm256_add_epi16(d[1], d[2]);
      rows[y][2] = _mm256_sub_epi16(d[2], d[1]);
      rows[y][3] = _mm256_sub_epi16(d[1], d[3]);
    }
#pragma GCC unroll 4
    for (int x = 0; x < kSide; ++x) {
      const auto put = [&](int y, __m256i v) __attribute__((target("avx2"), always_inline)) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (y * kSide + x) * t.step + c), v);
      };
      put(0, _mm256_sub_epi16(rows[0][x], rows[2][x]));
      put(1, _mm256_add_epi16(rows[1][x], rows[2][x]));
      put(2, _mm256_sub_epi16(rows[2][x], rows[1][x]));
      put(3, _mm256_sub_epi16(rows[1][x], rows[3][x]));
    }
  }
}

}  // namespace

void transform_tile(const TransformTile& tile, int16_t* to) {
  tile.is_signed ? transform<true>(tile, to) : transform<false>(tile, to);
}

__attribute__((target("avx2"))) void transform_sums(const int32_t* from, ptrdiff_t step, int32_t* to) {
  constexpr int64_t kLanes = 8;
  for (int64_t j = 0; j < kHalfColumns; j += kLanes) {
    __m256i rows[2][kSide];  // transformed along y
#pragma GCC unroll 4
    for (int x = 0; x < kSide; ++x) {
      __m256i m[kSide];
#pragma GCC unroll 4
      for (int y = 0; y < kSide; ++y)
        m[y] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + (y * kSide + x) * step + j));
      rows[0][x] = _mm256_add_epi32(_mm256_add_epi32(m[0], m[1]), m[2]);
      rows[1][x] = _mm256_sub_epi32(_mm256_sub_epi32(m[1], m[2]), m[3]);
    }
#pragma GCC unroll 2
    for (int y = 0; y < 2; ++y) {
      const __m256i* const r = rows[y];
      const __m256i left = _mm256_add_epi32(_mm256_add_epi32(r[0], r[1]), r[2]);
      const __m256i right = _mm256_sub_epi32(_mm256_sub_epi32(r[1], r[2]), r[3]);
      auto* const pixels = to + y * 2 * kHalfColumns + j;
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(pixels), _mm256_srai_epi32(left, 2));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(pixels + kHalfColumns), _mm256_srai_epi32(right, 2));
    }
  }
}

#endif

}  // namespace kiln::cpu
