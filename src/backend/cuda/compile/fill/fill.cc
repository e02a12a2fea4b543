#include "backend/cuda/compile/fill/fill.h"

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {

bool can_fill(FillOperation operation, DType type) {
  if (is_kernel_float(type)) return true;
  return operation == FillOperation::kLinspace && is_index(type);
}

KernelSource fill_source(FillOperation operation, DType type) {
  const std::string_view element = element_name(type);
  KernelSource source;
  source.entry = "fill";
  source.prelude = "#include \"fill/fill.cuh\"\n";
  switch (operation) {
    case FillOperation::kLinspace: source.prelude += str("KILN_FILL((fill_ramp<", element, ">))\n"); break;
    case FillOperation::kRandomUniform:
      source.prelude += str("KILN_FILL((fill_random<", element, ", false>))\n");
      break;
    case FillOperation::kRandomNormal: source.prelude += str("KILN_FILL((fill_random<", element, ", true>))\n"); break;
  }
  return source;
}

KernelSource values_source() {
  KernelSource source;
  source.entry = "values";
  source.prelude = "#include \"fill/fill.cuh\"\nKILN_VALUES\n";
  return source;
}

}  // namespace kiln::cuda
