#include "backend/cuda/compile/gemm/gemm.h"

#include <algorithm>

#include "backend/cuda/compile/gemm/family.h"
#include "backend/cuda/compile/gemm/wgmma_text.h"
#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr const GemmSource* kRows[] = {
#define FAMILY(Name) &kGemm##Name##Source,
#include "backend/cuda/kernels/gemm/families.def"
#undef FAMILY
};

const GemmSource& row_of(const GemmKernel& kernel) {
  return **std::ranges::find(kRows, kernel.family, &GemmSource::family);
}

}  // namespace

int64_t power_of_two_in(int64_t n, int64_t most) {
  int64_t result = most;
  while (n % result != 0) result /= 2;
  return result;
}

KernelSource source_of(const GemmKernel& kernel, const Epilogue& epilogue, const std::optional<ByteScales>& scales) {
  KernelSource source{row_of(kernel).file, epilogue_source(epilogue, scales), std::string(entry_of(kernel)),
                      is_quick(epilogue)};
  source.choices.set("Element", element_name(kernel.types.a)).set("Result", element_name(kernel.types.out));
  source.choices.set("terms", kernel.types.is_mixed() ? 2 : 1);
  source.choices.set("narrow_sums", scales && scales->narrow_sums).set("pairs", false);
  add_choices(source, to_record(kernel));
  if (kernel.reads_maps()) source.prelude += wgmma_source(kernel.tile.bn, kernel.types.a);
  if (kernel.sums_parts()) {
    source.choices.set("splits", 2);  // the text is the same for any number
    source.end = "#include \"gemm/reduce.cuh\"\n";
  }
  return source;
}

KernelSource source_of(const GemmKernel& kernel, const Epilogue& epilogue, const NestProgram& gate) {
  KernelSource source = source_of(kernel, epilogue);
  source.prelude += str("#include \"vocabulary.cuh\"\nnamespace kiln {\n",
                        nest_device_function(gate, "epilogue_gate", NestRounding::kStores), "}  // namespace kiln\n");
  source.choices.set("pairs", true);
  source.quick = only_halves(gate);
  return source;
}

GemmKernel GemmSearch::kernel(const GemmFamily& family) const {
  GemmKernel kernel;
  kernel.family = &family;
  kernel.types = traits.types;
  kernel.normalized = traits.normalized;
  kernel.a_k_major = traits.a_k_major;
  kernel.b_k_major = traits.b_k_major;
  kernel.vec = std::min<int64_t>(traits.c_align, 16 / bytes_of(traits.types.out));
  return kernel;
}

double GemmSearch::product_us(const GemmKernel& kernel, double flops_per_cycle) const {
  return product_estimate_us(kernel.tile, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k),
                             static_cast<double>(batches), kernel.splits, bytes_of(kernel.types.a), flops_per_cycle,
                             machine);
}

void GemmSearch::add_by_parts(GemmKernel kernel, int64_t least_steps, double flops_per_cycle) {
  for (const int64_t splits : {1, 2, 4, 8, 16}) {
    if (splits > 1 &&
        (splits * kernel.tile.bk * least_steps > k || tiles(kernel.tile) * splits > 3 * multiprocessors()))
      break;
    kernel.splits = splits;
    found.push_back({kernel, product_us(kernel, flops_per_cycle)});
  }
}

bool GemmSearch::is_along_k() const {
  const int64_t size = bytes_of(traits.types.a);
  return traits.a_k_major && traits.b_k_major && traits.a_align * size >= 16 && traits.b_align * size >= 16;
}

bool takes_maps(const GemmSearch& search) {
  return search.machine.compute == 90 && search.takes_tensor_cores() && search.is_along_k() && search.k >= 1 &&
         search.traits.one_batch_axis;
}

std::vector<GemmCandidate> gemm_candidates(const GemmTraits& traits, int64_t m, int64_t n, int64_t k, int64_t batches,
                                           const Machine& machine) {
  GemmSearch search{traits, m, n, k, batches, machine};
  for (const GemmSource* row : kRows)
    if ((!traits.types.is_mixed() || row->family->takes_mixed) &&
        (!traits.types.is_of_bytes() || row->family->takes_bytes) && (!traits.normalized || row->family->normalizes))
      row->search(search);
  std::ranges::stable_sort(search.found, {}, &GemmCandidate::estimate_us);
  return std::move(search.found);
}

}  // namespace kiln::cuda
