#include "backend/cuda/compile/attention/attention.h"

#include <algorithm>

#include "backend/cuda/compile/attention/family.h"
#include "backend/cuda/compile/gemm/wgmma_text.h"
#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr const AttentionSource* kRows[] = {
#define FAMILY(Name) &kAttention##Name##Source,
#include "backend/cuda/kernels/attention/families.def"
#undef FAMILY
};

const AttentionSource& row_of(const AttentionFamily& family) {
  return **std::ranges::find(kRows, &family, &AttentionSource::family);
}

}  // namespace

KernelSource source_of(const AttentionKernel& kernel) {
  KernelSource source{row_of(*kernel.family).file, {}, std::string(entry_of(kernel))};
  source.choices.set("Element", element_name(kernel.element));
  source.choices.set("Result", element_name(kernel.result.value_or(kernel.element)));
  source.choices.set("Operand", element_name(kernel.operand_type()));
  add_choices(source, to_record(kernel));
  if (kernel.reads_maps())
    source.prelude =
        wgmma_source(kernel.keys, kernel.element) + wgmma_source(kernel.depth, kernel.element, WgmmaForm::kRegisters);
  return source;
}

AttentionSearch::AttentionSearch(const AttentionTraits& of, const Machine& on) : traits(of), machine(on) {
  kernel.element = traits.element;
  kernel.has_mask = traits.has_mask;
  kernel.least_hides = traits.least_hides;
  kernel.causal = traits.causal;
  kernel.result = traits.result;
  kernel.joined = traits.joined;
  kernel.operand = traits.operand;
  kernel.rounds_weights = traits.rounds_weights;
  kernel.nan_rows_are_zero = traits.nan_rows_are_zero;
  kernel.piece = std::min<int64_t>(16, traits.align * size_of(kernel));
  kernel.depth = 16;
  while (kernel.depth < traits.depth) kernel.depth *= 2;
}

void AttentionSearch::add(const AttentionFamily& family, int64_t depth, const Shape& shape) {
  AttentionKernel k = kernel;
  k.family = &family;
  k.depth = std::max(k.depth, depth);
  k.warps = shape.warps, k.rows = shape.rows, k.keys = shape.keys, k.stages = shape.stages, k.turns = shape.turns;
  k.cluster = shape.cluster;
  if (family.shared_bytes(k) > machine.shared_bytes) return;
  found.push_back({k, 1.5 + 1e6 * row_of(family).cycles(k, traits, machine) / machine.clock_hz});
}

std::vector<AttentionCandidate> attention_candidates(const AttentionTraits& traits, const Machine& machine) {
  if (machine.compute < 80 || traits.depth > AttentionKernel::kMostDepth || !is_kernel_float(traits.element)) return {};
  AttentionSearch search(traits, machine);
  for (const AttentionSource* row : kRows) {
    if (traits.operand.has_value() != (row->family == &kAttentionBytes)) continue;
    if (!traits.joined || row->family == &kAttentionSplit) row->search(search);
  }
  std::ranges::stable_sort(search.found, {}, &AttentionCandidate::estimate_us);
  return std::move(search.found);
}

}  // namespace kiln::cuda
