#include "backend/cuda/compile/lanes/reduce.h"

#include "backend/cuda/compile/nest/function.h"

namespace kiln::cuda {

static constexpr std::string_view kFolds[] = {"Fold::kSum", "Fold::kProd", "Fold::kMax", "Fold::kMin"};

bool can_fold(DType type) { return is_nest_type(type) && type != DType::kBool; }

KernelSource reduce_axes_source(DType dtype, Fold fold) {
  KernelSource source;
  source.entry = "reduce_axes";
  source.prelude =
      "#include \"lanes/reduce.cuh\"\n" +
      entry_text("reduce_axes", "128", struct_parameter("AxesReduction"),
                 str("reduce_axes<", element_name(dtype), ", ", kFolds[static_cast<size_t>(fold)], ">(args)"));
  return source;
}

KernelSource reduce_source(const ReduceKernels& kernels, std::span<const std::string> wanted) {
  const std::string_view type = element_name(kernels.dtype), fold = kFolds[static_cast<size_t>(kernels.fold)];
  const std::string_view sums = is_float(kernels.dtype) ? register_name(kernels.dtype) : "int64_t";
  KernelSource source;
  source.prelude = "#include \"lanes/reduce.cuh\"\n";
  const auto add = [&](const std::string& entry, int threads, const std::string& call) {
    if (!is_wanted(wanted, entry)) return;
    source.prelude += entry_text(entry, str(threads), struct_parameter("Reduction"), call + "(args)");
    if (source.entry.empty()) source.entry = entry;
  };
  for (int vec = kernels.vec;; vec = 1) {
    if (kernels.columns) {
      add(str("reduce_columns_", vec), 256, str("reduce_columns<", type, ", ", fold, ", ", vec, ", false>"));
      add(str("reduce_column_parts_", vec), 256, str("reduce_columns<", type, ", ", fold, ", ", vec, ", true>"));
    } else {
      const std::string types = str(type, ", ", type, ", ", fold, ", ", vec);
      for (const int loads : {1, 2})
        if (vec > 1)
          add(reduce_short_entry(vec, loads), kReduceShortThreads, str("reduce_short<", types, ", ", loads, ">"));
      add(str("reduce_warps_", vec), 256, str("reduce_warps<", types, ">"));
      add(str("reduce_blocks_", vec), 512, str("reduce_blocks<", types, ", false>"));
      add(str("reduce_parts_", vec), 512, str("reduce_blocks<", types, ", true>"));
    }
    if (vec == 1) break;
  }
  if (!kernels.columns && kernels.staged) {
    if (bits_of(kernels.dtype) <= 16)
      add("reduce_pieces", 256, str("reduce_pieces<", type, ", ", type, ", ", fold, ">"));
    add("reduce_staged", 256, str("reduce_staged<", type, ", ", type, ", ", fold, ">"));
  }
  add("reduce_last", 256, str("reduce_warps<", sums, ", ", type, ", ", fold, ", 1>"));
  return source;
}

}  // namespace kiln::cuda
