#include "backend/cuda/compile/lanes/softmax.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

KernelSource columns_source(const SoftmaxColumns& wanted, std::string_view type) {
  KernelSource source;
  source.entry = wanted.entry();
  source.quick = true;
  source.prelude = "#include \"lanes/softmax_columns.cuh\"\n";
  for (int vec = wanted.vec;; vec = 1) {
    const SoftmaxColumns columns{vec, wanted.held, wanted.stored && vec > 1};
    const std::string arguments = str('(', columns.entry(), ", ", type, ", ", vec);
    source.prelude += columns.stored     ? str("KILN_SOFTMAX_STORED_COLUMNS", arguments, ", ", columns.held, ")\n")
                      : columns.held > 0 ? str("KILN_SOFTMAX_HELD_COLUMNS", arguments, ", ", columns.held, ")\n")
                                         : str("KILN_SOFTMAX_COLUMNS", arguments, ")\n");
    if (vec == 1) return source;
  }
}

}  // namespace

KernelSource softmax_source(DType dtype, const SoftmaxTuning& tuning) {
  const std::string element = str("kiln::", element_name(dtype));
  const std::string type = dtype == DType::kF32 ? "float" : element;
  if (tuning.columns) return columns_source(*tuning.columns, type);
  KernelSource source;
  source.prelude = "#include \"lanes/softmax.cuh\"\n";
  source.entry = "softmax_long";
  source.prelude += str("KILN_SOFTMAX_LONG(softmax_long, ", type, ")\n");
  if (const auto& tile = tuning.tile; tile && tile->team > 0)
    source.prelude += str("#include \"lanes/softmax_short.cuh\"\nKILN_SOFTMAX_SHORT(softmax_", tile->name(), ", ",
                          tile->threads, ", ", type, ", ", tile->loads, ", ", tile->team, ")\n");
  else if (tile && tile->odd)
    source.prelude += str("#include \"lanes/softmax_odd.cuh\"\nKILN_SOFTMAX_ODD(softmax_", tile->name(), ", ",
                          tile->threads, ", ", type, ", ", tile->loads, ")\n");
  else if (tile)
    source.prelude +=
        str("#include \"lanes/softmax_rows.cuh\"\nKILN_SOFTMAX_ROWS(softmax_", tile->name(), ", ", tile->threads, ", ",
            tile->block ? "block, " : "warp, ", type, ", ", tile->vec, ", ", tile->loads, ")\n");
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
