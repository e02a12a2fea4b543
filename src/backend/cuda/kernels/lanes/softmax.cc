#include "backend/cuda/kernels/lanes/softmax.h"

#include <algorithm>

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kMostRows = 64;  // of threads, which share columns
constexpr int kShared = 8;         // elements of a column that they hold each
std::string columns_entry(const SoftmaxColumns& columns) {
  if (columns.stored) return str("softmax_stored_", columns.vec, 'x', columns.held);
  return columns.held > 0 ? str("softmax_held_", columns.vec, 'x', columns.held) : str("softmax_columns_", columns.vec);
}

KernelSource columns_source(const SoftmaxColumns& wanted, std::string_view type) {
  KernelSource source;
  source.entry = columns_entry(wanted);
  source.quick = true;
  source.prelude = "#include \"lanes/softmax_columns.cuh\"\n";
  for (int vec = wanted.vec;; vec = 1) {
    const SoftmaxColumns columns{vec, wanted.held, wanted.stored && vec > 1};
    const std::string arguments = str('(', columns_entry(columns), ", ", type, ", ", vec);
    source.prelude += columns.stored     ? str("KILN_SOFTMAX_STORED_COLUMNS", arguments, ", ", columns.held, ")\n")
                      : columns.held > 0 ? str("KILN_SOFTMAX_HELD_COLUMNS", arguments, ", ", columns.held, ")\n")
                                         : str("KILN_SOFTMAX_COLUMNS", arguments, ")\n");
    if (vec == 1) return source;
  }
}

}  // namespace

Status SoftmaxColumns::check() const {
  TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a softmax loads ", vec, " elements at once"));
  return require(held >= 0 && held <= kMostHeld, "a softmax holds ", held, " elements of a column");
}

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

SoftmaxLaunch softmax_launch(const SoftmaxShape& shape, const RowTile* tile) {
  SoftmaxLaunch launch{"softmax_long", {}, {shape.outer, shape.length, shape.inner}};
  if (tile) {
    launch.entry = "softmax_" + tile->name();
    launch.shape = tile->shape(shape.outer, shape.length);
  } else {
    launch.shape.grid[0] = grid_blocks(shape.outer);
    launch.shape.block[0] = static_cast<uint32_t>(std::clamp<int64_t>((shape.length + 127) / 128 * 32, 32, 1024));
  }
  launch.shape.pdl = true;
  return launch;
}

int64_t most_held(int held) { return kMostRows * held; }
int held_of_columns(int64_t length, int64_t most) {
  if (most > most_held(kShared)) return 0;
  if (length != most || length == 0) return kShared;
  if (length <= kMostHeld) return static_cast<int>(length);  // whole columns: no thread waits for another
  return static_cast<int>(ceil_div(length, ceil_div(length, kShared)));
}
int vector_of_columns(int held, int vec) {
  constexpr int kMostElements = 64;  // registers of a thread
  while (held * vec > kMostElements) vec /= 2;
  return vec;
}

int vector_of_stored_columns(const SoftmaxShape& shape, int vec) {
  constexpr int64_t kMostElements = 128, kManyVectors = int64_t{264} * 256;
  if (shape.length > kMostHeld || vector_of_columns(static_cast<int>(shape.length), vec) == vec) return 1;
  while (shape.length * vec > kMostElements) vec /= 2;
  return shape.outer * shape.inner / vec >= kManyVectors ? vec : 1;
}

SoftmaxLaunch softmax_columns_launch(const SoftmaxShape& shape, const SoftmaxColumns& columns) {
  constexpr int64_t kThreads = 128, kMostAcross = 128;
  constexpr int64_t kManyBlocks = 264;  // multiprocessors of large devices, twice
  const int held = columns.held > 0 ? columns.held : kShared;
  const int64_t vectors = ceil_div(shape.inner, columns.vec),
                rows = std::clamp<int64_t>(ceil_div(shape.length, held), 1, kMostRows);
  const int64_t least = rows == 1 ? 32 : 8;  // a warp; a line of 128 bytes
  int64_t across = kMostAcross;
  const auto blocks = [&] { return shape.outer * ceil_div(vectors, across); };
  while (across > least && (across * rows > kThreads || across >= 2 * vectors || blocks() < kManyBlocks)) across /= 2;
  SoftmaxLaunch launch{columns_entry(columns), {}, {shape.outer, shape.length, shape.inner}};
  launch.shape.grid[0] = grid_blocks(blocks());
  launch.shape.block[0] = static_cast<uint32_t>(across);
  launch.shape.block[1] = static_cast<uint32_t>(rows);
  if (rows > 1) launch.shape.shared_bytes = static_cast<uint32_t>(2 * rows * across * columns.vec * 4);
  launch.shape.pdl = true;
  return launch;
}

}  // namespace kiln::cuda
