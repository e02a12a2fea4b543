#include "backend/cuda/compile/scatter/scatter.h"

namespace kiln::cuda {

static std::string unit_type(int bytes) { return bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t"); }

KernelSource scatter_source(ScatterMode mode, DType indices, std::span<const int> copied, std::span<const int> rows) {
  const std::string target = mode == ScatterMode::kElement ? "element_target" : "nd_target",
                    index = indices == DType::kI64 ? "int64_t" : "int";
  KernelSource source;
  source.entry = kScatterClaimEntry;
  source.prelude = str("#include \"scatter/scatter.cuh\"\nKILN_SCATTER_CLAIM(", kScatterClaimEntry, ", ", target, ", ",
                       index, ")\n");
  for (const int bytes : copied)
    source.prelude += str("KILN_SCATTER_COPY(", scatter_copy_entry(bytes), ", ", unit_type(bytes), ")\n");
  for (const int bytes : rows)
    source.prelude += str("KILN_SCATTER_WRITE(", scatter_write_entry(bytes), ", ", target, ", ", unit_type(bytes), ", ",
                          index, ")\n");
  return source;
}

}  // namespace kiln::cuda
