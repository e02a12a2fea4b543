#include "backend/cuda/compile/sort/top_k.h"

namespace kiln::cuda {

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

namespace {

std::string entry_of(std::string_view name, int threads, std::string_view types, bool is_pass = false) {
  return entry_text(name, str(threads), struct_parameter("TopK") + (is_pass ? ", int pass" : ""),
                    str("kiln::", name, types, is_pass ? "(args, pass)" : "(args)"));
}

}  // namespace

std::string sort_entries(DType dtype) {
  const std::string sorted = str('<', sort_type(dtype), '>');
  return entry_of("top_k_digits", kSortThreads, sorted, true) + entry_of("top_k_starts", kShortThreads, "") +
         entry_of("top_k_bin_starts", kSortThreads, "") + entry_of("top_k_move", kSortThreads, sorted, true);
}

KernelSource top_k_source(DType dtype, std::span<const TopKWay> ways) {
  KernelSource source;
  source.prelude = "#include \"sort/top_k.cuh\"\n";
  const std::string sorted = str('<', sort_type(dtype), '>');
  const auto add = [&](std::string_view name, int threads, std::string_view types, bool is_pass = false) {
    if (source.entry.empty()) source.entry = name;
    source.prelude += entry_of(name, threads, types, is_pass);
  };
  for (const TopKWay way : ways) {
    if (way == TopKWay::kShort) add("top_k_short", kShortThreads, sorted);
    if (way == TopKWay::kSelect) {
      add("top_k_begin", kSortThreads, "");
      add("top_k_count", kSortThreads, sorted, true);
      add("top_k_ties", kSortThreads, sorted);
      add("top_k_gather", kSortThreads, sorted);
      add("top_k_finish", kShortThreads, sorted);
    }
    if (way == TopKWay::kSort) {
      if (source.entry.empty()) source.entry = "top_k_digits";
      source.prelude += sort_entries(dtype);
      add("top_k_store", kSortThreads, sorted, true);
    }
  }
  return source;
}

}  // namespace kiln::cuda
