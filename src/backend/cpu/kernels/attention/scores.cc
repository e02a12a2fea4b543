#include "backend/cpu/kernels/attention/scores.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/kernels/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/attention/scores.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/lanes/exp-inl.h"
#include "backend/cpu/kernels/lanes/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

/// scores = scores * scale + mask, and their maximum.
float shift_scores(float* scores, int64_t count, float scale, const float* mask) {
  const D d;
  const V factor = hn::Set(d, scale);
  V peak[2] = {hn::Set(d, -INFINITY), hn::Set(d, -INFINITY)};
  const auto value = [&](int64_t i, int some) {
    const V score = hn::Mul(load<DType::kF32>(scores + i, some), factor);
    return mask ? hn::Add(score, load<DType::kF32>(mask + i, some)) : score;
  };
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const V e = value(i + v * kLanes, kLanes);
      hn::StoreU(e, d, scores + i + v * kLanes);
      peak[v] = hn::Max(peak[v], e);
    }
  for (; i < count; i += kLanes) {
    const auto some = static_cast<int>(std::min<int64_t>(kLanes, count - i));
    const V e = value(i, some);
    store_some(e, scores + i, some);
    peak[0] = hn::Max(peak[0], hn::IfThenElse(first(some), e, peak[1]));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(peak[0], peak[1])));
}

float exponentiate_row(float* scores, int64_t visible, int64_t keys, float scale, const float* mask) {
  const D d;
  const V peak = hn::Set(d, shift_scores(scores, visible, scale, mask));
  double sum = 0;
  for (int64_t begin = 0; begin < visible; begin += kFoldBlock) {
    V part = hn::Zero(d);
    const int64_t end = std::min(visible, begin + kFoldBlock);
    for (int64_t i = begin; i < end; i += kLanes) {
      const auto some = static_cast<int>(std::min<int64_t>(kLanes, end - i));
      const V e = exp_to_zero(hn::Sub(load<DType::kF32>(scores + i, some), peak));
      store_some(e, scores + i, some);
      part = hn::Add(part, some == kLanes ? e : hn::IfThenElseZero(first(some), e));
    }
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, part)));
  }
  std::fill(scores + visible, scores + keys, 0.0f);
  return static_cast<float>(sum);
}

int64_t last_visible(const float* mask, int64_t keys) {
  const D d;
  const V hidden = hn::Set(d, -INFINITY);
  for (; keys >= kLanes; keys -= kLanes)
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, mask + keys - kLanes), hidden))) break;
  while (keys > 0 && mask[keys - 1] == -INFINITY) --keys;
  return keys;
}

void multiply(float* x, int64_t count, float factor) {
  const V by = hn::Set(D(), factor);
  for_each_vector<DType::kF32>(x, count, [&](V e, int64_t i, int some) { store_some(hn::Mul(e, by), x + i, some); });
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

int64_t count_visible(const float* mask, int64_t keys) { return KILN_DISPATCH(last_visible)(mask, keys); }
float exponentiate(float* scores, int64_t visible, int64_t keys, float scale, const float* mask) {
  return KILN_DISPATCH(exponentiate_row)(scores, visible, keys, scale, mask);
}
void multiply_row(float* x, int64_t count, float factor) { KILN_DISPATCH(multiply)(x, count, factor); }

}  // namespace kiln::cpu
#endif
