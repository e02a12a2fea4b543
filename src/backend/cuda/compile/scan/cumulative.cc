#include "backend/cuda/compile/scan/cumulative.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/scan/arguments.h"

namespace kiln::cuda {

KernelSource cumulative_source(CumulativeOperation operation, DType dtype) {
  const std::string_view integer = dtype == DType::kI64 ? "uint64_t" : "uint32_t";  // wraps
  const std::string_view sum = is_float(dtype) ? register_name(dtype) : integer;
  const std::string types = str(is_float(dtype) ? element_name(dtype) : integer, ", ", sum);
  const auto entry = [&](std::string_view name, const std::string& call) {
    return entry_text(name, str(kScanThreads), struct_parameter("Cumulative"), call);
  };
  KernelSource source;
  source.entry = "cumulative";
  if (operation == CumulativeOperation::kProd) {
    source.prelude = str("#include \"scan/cumulative.cuh\"\n",
                         entry("cumulative", str("kiln::cumulative_products<", types, ">(args)")));
    return source;
  }
  source.prelude = str("#include \"scan/cumulative.cuh\"\n",
                       entry("cumulative_sums", str("cumulative_chunks<", types, ", false>(args)")),
                       entry("cumulative_starts", str("kiln::cumulative_starts<", sum, ">(args)")),
                       entry("cumulative", str("cumulative_chunks<", types, ", true>(args)")));
  return source;
}

}  // namespace kiln::cuda
