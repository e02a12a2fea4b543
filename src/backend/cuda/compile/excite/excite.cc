#include "backend/cuda/compile/excite/excite.h"

#include <algorithm>
#include <bit>

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = ExciteKernel::kThreads;

/// Threads that share a channel of the second product: as many as there are.
int64_t parts_of(const ExciteKernel& k) {
  return static_cast<int64_t>(std::bit_floor(
      static_cast<uint64_t>(std::clamp<int64_t>(kThreads / k.slice(), 1, std::min<int64_t>(16, k.hidden)))));
}

}  // namespace

KernelSource excite_source(const ExciteKernel& kernel, const NestProgram& hidden, const NestProgram& gate) {
  KernelSource source;
  source.entry = kExciteEntry;
  source.quick = kernel.dtype != DType::kF32;
  source.prelude = str("#include \"vocabulary.cuh\"\nnamespace kiln {\n",
                       nest_device_function(hidden, "hidden", NestRounding::kStores),
                       nest_device_function(gate, "gate", NestRounding::kStores), "}\n#include \"excite/excite.cuh\"\n",
                       entry_text(kExciteEntry, str(kThreads), struct_parameter("Excite"),
                                  str("excite<", element_name(kernel.dtype), ", ", element_name(kernel.weights), ", ",
                                      kThreads, ", ", kernel.blocks, ", ", parts_of(kernel), ">(args)")));
  return source;
}

}  // namespace kiln::cuda
