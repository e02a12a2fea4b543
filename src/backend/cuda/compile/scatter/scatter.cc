#include "backend/cuda/compile/scatter/scatter.h"

namespace kiln::cuda {

static std::string unit_type(int bytes) { return bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t"); }

KernelSource scatter_source(ScatterMode mode, DType indices, std::span<const int> copied, std::span<const int> rows) {
  const std::string target = str(mode == ScatterMode::kElement ? "element_target<" : "nd_target<",
                                 indices == DType::kI64 ? "int64_t>" : "int>"),
                    one = struct_parameter("Scatter"), both = one + ", int64_t* fault";
  KernelSource source;
  source.entry = kScatterClaimEntry;
  source.prelude = "#include \"scatter/scatter.cuh\"\n" +
                   entry_text(kScatterClaimEntry, "256", both, str("scatter_claim<", target, ">(args, fault)"));
  for (const int bytes : copied)
    source.prelude +=
        entry_text(scatter_copy_entry(bytes), "256", one, str("scatter_copy<", unit_type(bytes), ">(args)"));
  for (const int bytes : rows)
    source.prelude += entry_text(scatter_write_entry(bytes), "256", both,
                                 str("scatter_write<", unit_type(bytes), ", ", target, ">(args, fault)"));
  return source;
}

}  // namespace kiln::cuda
