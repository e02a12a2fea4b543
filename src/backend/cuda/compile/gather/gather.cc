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
    source.prelude += entry_text(gather_entry(bytes), "256", struct_parameter("Gather") + ", int64_t* fault",
                                 str(how, '<', unit, indices == DType::kI64 ? ", int64_t" : ", int", ">(args, fault)"));
  }
  return source;
}

}  // namespace kiln::cuda
