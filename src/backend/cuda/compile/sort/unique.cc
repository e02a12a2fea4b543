#include "backend/cuda/compile/sort/unique.h"

#include "backend/cuda/compile/sort/top_k.h"
#include "backend/cuda/kernels/sort/unique.h"

namespace kiln::cuda {

KernelSource unique_source(DType dtype, bool of_slices) {
  const std::string type(sort_type(dtype));
  const auto entry = [&](std::string_view name, const std::string& call) {
    return entry_text(name, str(kUniqueThreads), struct_parameter("Unique"), str("kiln::", call, "(args)"));
  };
  KernelSource source;
  const std::string next_keys =
      entry_text(kUniqueNextKeysEntry, str(kUniqueThreads), struct_parameter("Unique") + ", int pass",
                 str("kiln::unique_next_keys<", type, ">(args, pass)"));
  source.entry = kUniqueStoreEntry;
  source.prelude = str("#include \"sort/unique.cuh\"\n", sort_entries(dtype), of_slices ? next_keys : "",
                       entry(kUniqueSortedCountEntry, str("unique_count<kiln::SortedGroups<", type, ">>")),
                       entry(kUniqueSortedNumberEntry, str("unique_number<kiln::SortedGroups<", type, ">>")),
                       entry(kUniqueAppearingCountEntry, "unique_count<kiln::AppearingGroups>"),
                       entry(kUniqueAppearingNumberEntry, "unique_number<kiln::AppearingGroups>"),
                       entry(kUniqueStoreEntry, str("unique_store<", type, '>')));
  return source;
}

}  // namespace kiln::cuda
