#include "backend/cuda/compile/fill/fill.h"

#include "backend/cuda/compile/nest/function.h"
#include "tensor/compute_types.h"

namespace kiln::cuda {

bool can_fill(FillOperation operation, DType type) {
  if (is_compute_float(type)) return true;
  return operation == FillOperation::kLinspace && is_index(type);
}

KernelSource fill_source(FillOperation operation, DType type) {
  const std::string_view element = element_name(type);
  KernelSource source;
  source.entry = "fill";
  const std::string call = operation == FillOperation::kLinspace        ? str("fill_ramp<", element, ">(args)")
                           : operation == FillOperation::kRandomUniform ? str("fill_random<", element, ", false>(args)")
                                                                        : str("fill_random<", element, ", true>(args)");
  source.prelude = "#include \"fill/fill.cuh\"\n" + entry_text("fill", "256", struct_parameter("Fill"), call);
  return source;
}

KernelSource values_source() {
  KernelSource source;
  source.entry = "values";
  source.prelude =
      "#include \"fill/fill.cuh\"\n" + entry_text("values", "256", struct_parameter("Values"), "fill_values(args)");
  return source;
}

KernelSource read_values_source(DType type) {
  const std::string element = type == DType::kBool ? std::string("uint8_t") : str("int", bits_of(type), "_t");
  KernelSource source;
  source.entry = "read_values";
  source.prelude = "#include \"fill/fill.cuh\"\n" + entry_text("read_values", "64", struct_parameter("ReadValues"),
                                                               str("kiln::read_values<", element, ">(args)"));
  return source;
}

}  // namespace kiln::cuda
