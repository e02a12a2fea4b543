#include "backend/cuda/compile/scatter/scatter.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/compile/sort/top_k.h"
#include "backend/cuda/kernels/scatter/reduce.h"

namespace kiln::cuda {
namespace {

std::string unit_type(int bytes) { return bytes == 16 ? "Unit16" : str("uint", 8 * bytes, "_t"); }

/// The function that finds what an update is for.
std::string target_of(ScatterMode mode, DType indices) {
  return str(mode == ScatterMode::kElement ? "element_target<" : "nd_target<",
             indices == DType::kI64 ? "int64_t>" : "int>");
}

std::string copy_entries(std::span<const int> units) {
  std::string text;
  for (const int bytes : units)
    text += entry_text(scatter_copy_entry(bytes), "256", struct_parameter("Scatter"),
                       str("scatter_copy<", unit_type(bytes), ">(args)"));
  return text;
}

std::string_view reduction_type(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::kProd: return "ReduceProd";
    case ScatterReduction::kMax: return "ReduceMax";
    case ScatterReduction::kMin: return "ReduceMin";
    default: return "ReduceSum";
  }
}

}  // namespace

KernelSource scatter_source(ScatterMode mode, DType indices, std::span<const int> copied, std::span<const int> rows) {
  const std::string target = target_of(mode, indices), both = struct_parameter("Scatter") + ", int64_t* fault";
  KernelSource source;
  source.entry = kScatterClaimEntry;
  source.prelude = "#include \"scatter/scatter.cuh\"\n" +
                   entry_text(kScatterClaimEntry, "256", both, str("scatter_claim<", target, ">(args, fault)"));
  source.prelude += copy_entries(copied);
  for (const int bytes : rows)
    source.prelude += entry_text(scatter_write_entry(bytes), "256", both,
                                 str("scatter_write<", unit_type(bytes), ", ", target, ">(args, fault)"));
  return source;
}

KernelSource scatter_reduce_source(const ScatterReduceSource& what) {
  const std::string target = target_of(what.op.mode, what.indices), argument = struct_parameter("ScatterReduce"),
                    types = str('<', element_name(what.data), ", ", reduction_type(what.op.reduction), ">(args)");
  KernelSource source;
  source.entry = kScatterReduceEntry;
  source.prelude = "#include \"scatter/reduce.cuh\"\n" + copy_entries(what.copied);
  const auto add = [&](const char* entry, int threads, const std::string& parameters, const std::string& call) {
    source.prelude += entry_text(entry, str(threads), parameters, call);
  };
  if (what.may_be_short)
    add(kScatterSortEntry, kShortThreads, argument + ", int64_t* fault",
        str("scatter_sort<", target, ">(args, fault)"));
  if (what.may_be_long) {
    add(kScatterTargetsEntry, 256, argument + ", int64_t* fault", str("scatter_targets<", target, ">(args, fault)"));
    source.prelude += sort_entries(DType::kI32);
  }
  add(kScatterReduceEntry, 256, argument, "scatter_reduce" + types);
  add(kScatterLongEntry, kScatterLoaders + 32, argument, "scatter_reduce_long" + types);
  return source;
}

}  // namespace kiln::cuda
