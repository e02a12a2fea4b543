#include <algorithm>
#include <chrono>
#include <map>

#include "backend/cpu/kernels/targets.h"
#include "bench/cpu_kernels/measure.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/cpu_kernels/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kiln::cpu::HWY_NAMESPACE {
namespace {

constexpr int kChains = 12;  // hides a latency of six cycles on two units

/// Floating-point operations of `rounds` rounds of independent multiply-adds; `keep` holds the compiler to them.
double multiply_adds(int64_t rounds, float* keep) {
  const D d;
  V sum[kChains];
  const V x = hn::Set(d, 0.999f), y = hn::Set(d, keep[0]);
  for (V& s : sum) s = y;
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (V& s : sum) s = hn::MulAdd(s, x, y);
  }
  for (int j = 1; j < kChains; ++j) sum[0] = hn::Add(sum[0], sum[j]);
  hn::StoreU(sum[0], d, keep);
  return 2.0 * kLanes * kChains * static_cast<double>(rounds);
}

}  // namespace
}  // namespace kiln::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kiln::cpu {

double fma_peak(int threads) {
  static std::map<int, double> measured;
  if (const auto found = measured.find(threads); found != measured.end()) return found->second;
  Team team(threads);
  double best = 0;
  for (int repeat = 0; repeat < 9; ++repeat) {
    double flops = 0;
    const auto start = std::chrono::steady_clock::now();
    // More parts than threads, so that a helper that comes late takes fewer.
    std::vector<double> of_part(static_cast<size_t>(64));
    team.run(64, [&](int64_t part, int) {
      float keep[64] = {1e-3f};
      of_part[static_cast<size_t>(part)] = KILN_DISPATCH(multiply_adds)(100'000, keep);
      benchmark::DoNotOptimize(keep);
    });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (double f : of_part) flops += f;
    best = std::max(best, flops / seconds * 1e-9);
  }
  return measured[threads] = best;
}

}  // namespace kiln::cpu
#endif
