#include "backend/cuda/compile/sort/non_max_suppression.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sort/non_max_suppression.h"

namespace kiln::cuda {

KernelSource non_max_suppression_source(DType boxes, DType indices) {
  const std::string argument = struct_parameter("Suppression"), threads = str(kSuppressThreads);
  KernelSource source;
  source.entry = kSuppressBoxesEntry;
  source.prelude = str("#include \"sort/non_max_suppression.cuh\"\n",
                       entry_text(kSuppressBoxesEntry, threads, argument + ", int64_t* fault",
                                  str("kiln::suppress_boxes<", element_name(boxes), ">(args, fault)")),
                       entry_text(kSuppressStartsEntry, threads, argument, "kiln::suppress_starts(args)"),
                       entry_text(kStoreSelectedEntry, threads, argument,
                                  str("kiln::store_selected<int", bits_of(indices), "_t>(args)")));
  return source;
}

}  // namespace kiln::cuda
