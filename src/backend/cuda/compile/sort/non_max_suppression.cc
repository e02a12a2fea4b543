#include "backend/cuda/compile/sort/non_max_suppression.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/compile/sort/top_k.h"
#include "backend/cuda/kernels/sort/non_max_suppression.h"

namespace kiln::cuda {

KernelSource non_max_suppression_source(DType boxes, DType indices, bool may_be_long) {
  const std::string argument = struct_parameter("Suppression"), threads = str(kSuppressThreads);
  KernelSource source;
  source.entry = kSuppressBoxesEntry;
  source.prelude = str("#include \"sort/non_max_suppression.cuh\"\n",
                       entry_text(kSuppressBoxesEntry, threads, argument + ", int64_t* fault",
                                  str("kiln::suppress_boxes<", element_name(boxes), ">(args, fault)")),
                       entry_text(kSuppressStartsEntry, threads, argument, "kiln::suppress_starts(args)"),
                       entry_text(kStoreSelectedEntry, threads, argument,
                                  str("kiln::store_selected<int", bits_of(indices), "_t>(args)")));
  if (!may_be_long) return source;
  const auto add = [&](std::string_view entry, int bound, std::string_view second, const std::string& call) {
    source.prelude += entry_text(entry, str(bound), str(struct_parameter("LongSuppression"), second), call);
  };
  const std::string types = str('<', element_name(boxes), ", ", sort_type(boxes), '>');
  source.prelude = str("#include \"sort/long_suppression.cuh\"\n", source.prelude, sort_entries(boxes));
  add(kLongGatherEntry, kLongThreads, ", int64_t* fault", str("kiln::long_gather", types, "(args, fault)"));
  add(kLongCompareEntry, kLongThreads, ", int round", "kiln::long_compare(args, round)");
  add(kLongSelectEntry, kLongSelectThreads, ", int round", str("kiln::long_select", types, "(args, round)"));
  add(kLongRemoveEntry, kLongThreads, ", int round", "kiln::long_remove(args, round)");
  return source;
}

}  // namespace kiln::cuda
