#include "backend/cuda/compile/scan/non_zero.h"

#include "backend/cuda/kernels/scan/non_zero.h"

namespace kiln::cuda {

KernelSource non_zero_source(DType x, DType indices) {
  const auto entry = [&](std::string_view name, const std::string& type) {
    return entry_text(name, str(kMarkThreads), struct_parameter("NonZero"), str("kiln::", name, '<', type, ">(args)"));
  };
  KernelSource source;
  source.entry = kNonZeroMarkEntry;
  source.prelude = str("#include \"scan/non_zero.cuh\"\n", entry(kNonZeroMarkEntry, str("uint", bits_of(x), "_t")),
                       entry(kNonZeroWriteEntry, str("int", bits_of(indices), "_t")));
  return source;
}

}  // namespace kiln::cuda
