#include "backend/cuda/compile/gather/gather.h"

namespace kiln::cuda {

KernelSource gather_source(GatherMode mode, DType indices, std::span<const int> unit_bytes) {
  const std::string_view how = mode == GatherMode::kDefault   ? "gather_rows"
                               : mode == GatherMode::kElement ? "gather_elements"
                                                              : "gather_nd";
  KernelSource source;
  source.entry = gather_entry(unit_bytes[0]);
  source.prelude = "#include \"gather/gather.cuh\"\n";
  for (const int bytes : unit_bytes) {
    const std::string unit = bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t");
    source.prelude += str("KILN_GATHER(", gather_entry(bytes), ", ", how, ", ", unit, ", ",
                          indices == DType::kI64 ? "int64_t" : "int", ")\n");
  }
  return source;
}

}  // namespace kiln::cuda
