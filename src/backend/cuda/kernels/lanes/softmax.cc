#include "backend/cuda/kernels/lanes/softmax.h"

#include <algorithm>

#include "backend/cuda/kernels/nest/function.h"

namespace kiln::cuda {

KernelSource softmax_source(const SoftmaxKernels& kernels) {
  KernelSource source;
  source.prelude = "#include \"lanes/softmax.cuh\"\n";
  const std::string element = str("kiln::", element_name(kernels.dtype));
  const std::string type = kernels.dtype == DType::kF32 ? "float" : element;
  if (kernels.columns) {
    source.entry = "softmax_columns";
    source.prelude += str("KILN_SOFTMAX_COLUMNS(softmax_columns, ", type, ")\n");
    return source;
  }
  source.entry = "softmax_long";
  source.prelude += str("KILN_SOFTMAX_LONG(softmax_long, ", type, ")\n");
  if (const auto& tile = kernels.tile)
    source.prelude += str(tile->block ? "KILN_SOFTMAX_BLOCK(softmax_" : "KILN_SOFTMAX_WARPS(softmax_", tile->name(),
                          ", ", type, ", ", tile->vec, ", ", tile->loads, ")\n");
  return source;
}

SoftmaxLaunch softmax_launch(const SoftmaxShape& shape, const RowTile* tile) {
  SoftmaxLaunch launch{"softmax_columns", {}, {shape.outer, shape.length, shape.inner}};
  if (tile) {
    launch.entry = "softmax_" + tile->name();
    launch.shape = tile->shape(shape.outer, shape.length);
  } else if (shape.inner == 1) {
    launch.entry = "softmax_long";
    launch.shape.grid[0] = grid_blocks(shape.outer);
    launch.shape.block[0] = static_cast<uint32_t>(std::clamp<int64_t>((shape.length + 127) / 128 * 32, 32, 1024));
  } else {
    launch.shape.grid[0] = grid_blocks(shape.outer * ((shape.inner + 31) / 32));
    launch.shape.block[0] = 32;
    launch.shape.block[1] = static_cast<uint32_t>(std::clamp<int64_t>((shape.length + 7) / 8, 1, 32));
  }
  launch.shape.pdl = true;
  return launch;
}

}  // namespace kiln::cuda
