/// What the kernels' benchmarks share: a team of the asked size, data, and the share of the machine's ceiling.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/aligned.h"

namespace kiln::cpu {

/// GFLOP/s of multiply-adds in registers, `threads` at once: measured when first asked for, best of several runs.
double fma_peak(int threads);

/// Reports `flops` an iteration as GFLOP/s and as a share of fma_peak.
inline void report(benchmark::State& state, double flops, int threads) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["of_peak_%"] =
      benchmark::Counter(flops * 1e-7 / fma_peak(threads), benchmark::Counter::kIsIterationInvariantRate);
}

inline std::vector<float> numbers(int64_t size) {
  std::vector<float> result(static_cast<size_t>(size));
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<float>(i * 2654435761u >> 7 & 31) / 16 - 1;
  return result;
}

/// Workspace of at least one byte, kept alive by the caller.
inline AlignedFloats workspace(int64_t bytes) { return *AlignedFloats::zeros(bytes / 4 + 1); }

}  // namespace kiln::cpu
