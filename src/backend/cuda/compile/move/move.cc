#include "backend/cuda/compile/move/move.h"

#include "backend/cuda/kernels/move/slice.h"

namespace kiln::cuda {

KernelSource move_source(std::span<const MoveKernel> kernels) {
  using enum MoveKernel::Kind;
  KernelSource source;
  source.prelude = "#include \"move/move.cuh\"\n";
  for (const MoveKernel& kernel : kernels) {
    const std::string unit = str("kiln::Unit", kernel.unit_bytes);
    if (kernel.kind == kTransposeVectors)
      source.prelude += str("KILN_TRANSPOSE_VECTORS(", kernel.entry(), ", ", unit, ")\n");
    else if (kernel.kind == kTranspose)
      source.prelude += str("KILN_TRANSPOSE(", kernel.entry(), ", ", unit, ", ", tile_of(kernel).a, ")\n");
    else
      source.prelude +=
          str("KILN_MOVE(", kernel.entry(), ", ", unit, kernel.kind == kWide ? ", WideWalk, " : ", Walk, ",
              kernel.kind == kMany ? kBoxesOfLaunch : 1, ")\n");
  }
  if (!kernels.empty()) source.entry = kernels[0].entry();
  return source;
}

KernelSource slice_source(int element_bytes, SliceMode mode) {
  const std::string element = str("uint", 8 * element_bytes, "_t");
  KernelSource source;
  source.entry = "slice";
  source.prelude = str("#include \"move/slice_flat.cuh\"\nKILN_SLICE(slice, ", element, ")\nKILN_SLICE_BAND(",
                       slice_band_entry(element_bytes), ", ", element, ", ", element, ")\nKILN_SLICE_BAND(",
                       slice_band_entry(kSliceVectorBytes), ", Unit16, ", element, ")\nKILN_SLICE_FLAT(",
                       kSliceFlatEntry, ", ", element, ", ", mode == SliceMode::kFill ? "true" : "false", ")\n");
  return source;
}

}  // namespace kiln::cuda
