#include "backend/cuda/compile/sort/top_k.h"

namespace kiln::cuda {
namespace {

std::string_view sort_type(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "kiln::SortF32";
    case DType::kF16: return "kiln::SortF16";
    case DType::kBF16: return "kiln::SortBF16";
    case DType::kI32: return "kiln::SortInteger<uint32_t>";
    case DType::kI64: return "kiln::SortInteger<uint64_t>";
    case DType::kI8: return "kiln::SortInteger<uint8_t>";
    default: return "kiln::SortU8";
  }
}

}  // namespace

KernelSource top_k_source(DType dtype, std::span<const TopKWay> ways) {
  KernelSource source;
  source.prelude = "#include \"sort/top_k.cuh\"\n";
  const auto add = [&](std::string_view macro, std::string_view name, int threads, bool is_typed) {
    if (source.entry.empty()) source.entry = name;
    source.prelude += str(macro, "(", name, ", ", threads, is_typed ? str(", ", sort_type(dtype)) : "", ")\n");
  };
  for (const TopKWay way : ways) {
    if (way == TopKWay::kShort) add("KILN_TOP_K", "top_k_short", kShortThreads, true);
    if (way == TopKWay::kSelect) {
      add("KILN_TOP_K_ROWS", "top_k_begin", kSortThreads, false);
      add("KILN_TOP_K_PASS", "top_k_count", kSortThreads, true);
      add("KILN_TOP_K", "top_k_ties", kSortThreads, true);
      add("KILN_TOP_K", "top_k_gather", kSortThreads, true);
      add("KILN_TOP_K", "top_k_finish", kShortThreads, true);
    }
    if (way == TopKWay::kSort) {
      add("KILN_TOP_K_PASS", "top_k_digits", kSortThreads, true);
      add("KILN_TOP_K_ROWS", "top_k_starts", kShortThreads, false);
      add("KILN_TOP_K_PASS", "top_k_move", kSortThreads, true);
      add("KILN_TOP_K_PASS", "top_k_store", kSortThreads, true);
    }
  }
  return source;
}

}  // namespace kiln::cuda
