#include "backend/cuda/compile/lanes/softmax.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

/// The extents behind x and y.
struct ExtentNames {
  std::string_view parameters, names;
};
constexpr ExtentNames kOfRows{"int64_t rows, int64_t cols", "rows, cols"};
constexpr ExtentNames kOfColumns{"int64_t outer, int64_t length, int64_t inner", "outer, length, inner"};

std::string entry(std::string_view name, int threads, std::string_view type, const ExtentNames& extents,
                  std::string_view function) {
  return entry_text(name, str(threads), str("const ", type, "* x, ", type, "* y, ", extents.parameters),
                    str(function, "(x, y, ", extents.names, ')'));
}

KernelSource columns_source(const SoftmaxColumns& wanted, std::string_view type) {
  KernelSource source;
  source.entry = wanted.entry();
  source.quick = true;
  source.prelude = "#include \"lanes/softmax_columns.cuh\"\n";
  for (int vec = wanted.vec;; vec = 1) {
    const SoftmaxColumns columns{vec, wanted.held, wanted.stored && vec > 1};
    const std::string_view how = columns.stored ? "stored_" : columns.held > 0 ? "held_" : "";
    source.prelude +=
        entry(columns.entry(), columns.stored ? 128 : 512, type, kOfColumns,
              str("softmax_", how, "columns<", type, ", ", vec, columns.held > 0 ? str(", ", columns.held, '>') : ">"));
    if (vec == 1) return source;
  }
}

}  // namespace

KernelSource softmax_source(DType dtype, const SoftmaxTuning& tuning) {
  const std::string element = str("kiln::", element_name(dtype));
  const std::string type = dtype == DType::kF32 ? "float" : element;
  if (tuning.columns) return columns_source(*tuning.columns, type);
  KernelSource source;
  source.entry = "softmax_long";
  source.prelude =
      "#include \"lanes/softmax.cuh\"\n" + entry("softmax_long", 1024, type, kOfRows, str("softmax_long<", type, '>'));
  const auto add = [&](std::string_view file, const std::string& function) {
    source.prelude += str("#include \"lanes/softmax_", file, ".cuh\"\n",
                          entry("softmax_" + tuning.tile->name(), tuning.tile->threads, type, kOfRows, function));
  };
  if (const auto& tile = tuning.tile; tile && tile->team > 0)
    add("short", str("softmax_short<", type, ", ", tile->loads, ", ", tile->team, ", ", tile->threads, '>'));
  else if (tile && tile->odd)
    add("odd", str("softmax_odd<", type, ", ", tile->loads, '>'));
  else if (tile)
    add("rows", str(tile->block ? "softmax_block<" : "softmax_warp<", type, ", ", tile->vec, ", ", tile->loads, '>'));
  return source;
}

int held_of_columns(int64_t length, int64_t most) {
  if (most > most_held(SoftmaxColumns::kShared)) return 0;
  if (length != most || length == 0) return SoftmaxColumns::kShared;
  if (length <= SoftmaxColumns::kMostHeld)
    return static_cast<int>(length);  // whole columns: no thread waits for another
  return static_cast<int>(ceil_div(length, ceil_div(length, SoftmaxColumns::kShared)));
}
int vector_of_columns(int held, int vec) {
  constexpr int kMostElements = 64;  // registers of a thread
  while (held * vec > kMostElements) vec /= 2;
  return vec;
}

int vector_of_stored_columns(const SoftmaxShape& shape, int vec) {
  constexpr int64_t kMostElements = 128, kManyVectors = int64_t{264} * 256;
  if (shape.length > SoftmaxColumns::kMostHeld || vector_of_columns(static_cast<int>(shape.length), vec) == vec)
    return 1;
  while (shape.length * vec > kMostElements) vec /= 2;
  return shape.outer * shape.inner / vec >= kManyVectors ? vec : 1;
}

}  // namespace kiln::cuda
