#include "backend/cuda/compile/move/move.h"

#include "backend/cuda/kernels/move/slice.h"

namespace kiln::cuda {

KernelSource move_source(std::span<const MoveKernel> kernels) {
  using enum MoveKernel::Kind;
  KernelSource source;
  source.prelude = "#include \"move/move.cuh\"\n";
  for (const MoveKernel& kernel : kernels) {
    const std::string unit = str("<Unit", kernel.unit_bytes), transpose = struct_parameter("Transpose");
    if (kernel.kind == kTransposeVectors)
      source.prelude += entry_text(kernel.entry(), "128", transpose, str("transpose_vectors", unit, ">(args)"));
    else if (kernel.kind == kTranspose)
      source.prelude +=
          entry_text(kernel.entry(), "256", transpose, str("transpose", unit, ", ", tile_of(kernel).a, ">(args)"));
    else
      source.prelude += entry_text(kernel.entry(), "256",
                                   struct_parameter(str("Boxes<kiln::", kernel.kind == kWide ? "WideWalk, " : "Walk, ",
                                                        kernel.kind == kMany ? kBoxesOfLaunch : 1, '>')),
                                   str("move", unit, ">(args)"));
  }
  if (!kernels.empty()) source.entry = kernels[0].entry();
  return source;
}

KernelSource slice_source(int element_bytes, SliceMode mode) {
  const std::string element = str("uint", 8 * element_bytes, "_t");
  KernelSource source;
  source.entry = "slice";
  source.prelude = "#include \"move/slice_flat.cuh\"\n";
  const auto add = [&](const std::string& entry, std::string_view type, const std::string& call) {
    source.prelude += entry_text(entry, "256", struct_parameter(type), call + ">(args)");
  };
  add("slice", "Slice", "slice<" + element);
  add(slice_band_entry(element_bytes), "BandSlice", str("slice_band<", element, ", ", element));
  add(slice_band_entry(kSliceVectorBytes), "BandSlice", str("slice_band<Unit16, ", element));
  add(std::string(kSliceFlatEntry), "FlatSlice",
      str("slice_flat<", element, mode == SliceMode::kFill ? ", true" : ", false"));
  return source;
}

}  // namespace kiln::cuda
