#include "backend/cuda/compile/weight_only/weight_only.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kColumns = WeightPieces::kColumns, kMostRows = 16;

double count(int64_t x) { return static_cast<double>(x); }

/// Bytes of weights and scales.
double weight_bytes(const WeightOnlyProblem& p) {
  const double scales = count(p.n) * count(p.k / p.block) * count(bytes_of(p.types.scale) + p.types.has_zeros);
  return count(p.n) * count(p.k) * count(p.types.bits()) / 8 + scales;
}

/// Estimates a kernel that reads weights at memory's rate, as compile/gemm/rows.cc does, and A from the cache of the
/// device once a block.
double estimate_us(const WeightOnlyRows& kernel, const WeightOnlyProblem& p, const Machine& machine) {
  const double tiles = count(ceil_div(p.m, kernel.bm) * ceil_div(p.n, kernel.panels * kColumns));
  const double blocks = tiles * count(kernel.splits), per_multiprocessor = blocks / machine.multiprocessors;
  const double under_way =
      std::min(per_multiprocessor, 2.0) * count(kernel.warps * kernel.stages) * double{WeightPieces::kBytes};
  const double busy = std::min(1.0, under_way / 40e3) * std::min(1.0, per_multiprocessor + 0.3);
  const double parts = count(kernel.warps / kernel.panels * kernel.splits);
  const double own_steps = std::ceil(count(ceil_div(p.k, p.types.step())) / (parts * count(kernel.stages)));
  const double waiting = 0.8 * (own_steps - 1) * std::min(1.0, 0.75 / per_multiprocessor);
  const double rows = count(std::min(p.m, kernel.bm));
  const double a_bytes = tiles * rows * count(p.k) * count(bytes_of(p.types.a));
  // Plain FMA of FP32, by both columns of a lane.
  const double sums = p.types.a == DType::kF32 ? tiles * count(kernel.bm * kernel.panels * kColumns * p.k) : 0;
  return 1.2 + waiting + 1e6 * weight_bytes(p) / (machine.memory_bytes_per_second * 1.1 * busy) +
         1e6 * a_bytes / machine.l2_bytes_per_second() +
         1e6 * sums / (machine.multiprocessors * machine.clock_hz * 80) + (kernel.splits > 1 ? 0.7 : 0);
}

}  // namespace

KernelSource source_of(const WeightOnlyRows& kernel, const Epilogue& epilogue) {
  KernelSource source{"weight_only/rows.cu", epilogue_source(epilogue), kWeightOnlyRows, is_quick(epilogue)};
  const WeightOnlyTypes& types = kernel.types;
  source.choices.set("Element", element_name(types.a)).set("Result", element_name(types.out));
  source.choices.set("Scale", element_name(types.scale)).set("bits", types.bits());
  add_choices(source, to_record(kernel));
  return source;
}

KernelSource source_of(const GemmKernel& kernel, const WeightOnlyTypes& types, const Epilogue& epilogue) {
  KernelSource source = source_of(kernel, epilogue);
  source.choices.set("Scale", element_name(types.scale)).set("bits", types.bits());
  source.choices.set("has_zeros", types.has_zeros);
  source.end += str("#include \"weight_only/expand.cuh\"\n",
                    entry_text(kExpandWeights, "256", struct_parameter("ExpandArguments"), "expand_weights_of(args)"));
  return source;
}

std::vector<WeightOnlyCandidate> rows_candidates(const WeightOnlyProblem& p, const Machine& machine) {
  std::vector<WeightOnlyCandidate> found;
  const int64_t fold = fold_of(p.types, p.k, p.block), chunk = 16 / bytes_of(p.types.a);
  if (machine.compute < 80 || p.m > kMostRows || fold == 0 || p.k_align % chunk != 0) return found;
  WeightOnlyRows kernel;
  kernel.types = p.types;
  kernel.fold = fold;
  kernel.bm = p.m <= 8 ? 8 : 16;
  kernel.vec = std::min<int64_t>(p.n_align, 16 / bytes_of(p.types.out));
  const int64_t steps = ceil_div(p.k, p.types.step());
  for (const auto& [panels, warps] : {std::array<int64_t, 2>{1, 4}, {1, 8}, {2, 8}, {4, 8}, {4, 4}, {8, 8}})
    for (const int64_t stages : {2, 3, 4})
      for (const int64_t splits : {1, 2, 4, 8}) {
        kernel.panels = panels, kernel.warps = warps, kernel.stages = stages, kernel.splits = splits;
        if (p.types.a == DType::kF32 && stages > 2) continue;  // their text is long: all rows, by plain FMA
        if (splits > 1 && (machine.compute < 90 || steps < splits * (warps / panels))) continue;
        if (!kernel.check() || rows_shared_bytes(kernel, p.k) + kernel.own_shared_bytes() > machine.shared_bytes)
          continue;
        found.push_back({kernel, estimate_us(kernel, p, machine)});
      }
  std::ranges::stable_sort(found, {}, &WeightOnlyCandidate::estimate_us);
  return found;
}

std::vector<GemmCandidate> expanded_candidates(const WeightOnlyProblem& p, const Machine& machine) {
  GemmTraits traits;
  traits.types = ContractionTypes::all(p.types.a);
  traits.types.out = p.types.out;
  traits.b_k_major = true;
  traits.a_align = p.k_align, traits.b_align = 8, traits.c_align = p.n_align;
  traits.tf32 = p.tf32;
  traits.one_batch_axis = true;
  const double floats = count(p.n) * count(p.k) * count(bytes_of(p.types.a));
  const double expand_us = 2 + 1e6 * (weight_bytes(p) + floats) / machine.memory_bytes_per_second;
  std::vector<GemmCandidate> found = gemm_candidates(traits, p.m, p.n, p.k, 1, machine);
  for (GemmCandidate& candidate : found) candidate.estimate_us += expand_us;
  return found;
}

}  // namespace kiln::cuda
