// What sources and searches of kernels that read maps share.
#include "backend/cuda/compile/gemm/family.h"

namespace kiln::cuda {

void define_stages(const GemmKernel& kernel, KernelSource& source) {
  define(source, "BM", kernel.tile.bm);
  define(source, "BN", kernel.tile.bn);
  define(source, "STAGES", kernel.tile.stages);
  define(source, "VEC", kernel.vec);
}
void define_wgmma(const GemmKernel& kernel, KernelSource& source) {
  define_types(kernel, source);
  source.prelude += wgmma_source(kernel.tile.bn, kernel.types.a);
}

bool takes_maps(const GemmSearch& search) {
  return search.machine.compute == 90 && search.machine.shared_bytes >= kMostSharedBytes &&
         search.takes_tensor_cores() && search.is_along_k() && search.k >= 1 && search.traits.one_batch_axis;
}

}  // namespace kiln::cuda
