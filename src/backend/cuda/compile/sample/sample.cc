#include "backend/cuda/compile/sample/sample.h"

#include "backend/cuda/compile/nest/function.h"
#include "backend/cuda/kernels/sample/sample.h"

namespace kiln::cuda {

KernelSource grid_sample_source(DType x, DType grid, ResizeMode mode, int axes) {
  KernelSource source;
  source.entry = kGridSampleEntry;
  source.prelude = "#include \"sample/sample.cuh\"\n" +
                   entry_text(kGridSampleEntry, str(kSampleThreads), struct_parameter("cuda::GridSampleArgument"),
                              str("grid_sample_at<", element_name(x), ", ", element_name(grid), ", ",
                                  static_cast<int>(mode), ", ", axes, ">(args)"));
  return source;
}

KernelSource roi_align_source(DType x, DType rois) {
  KernelSource source;
  source.entry = kRoiAlignEntry;
  source.prelude =
      "#include \"sample/sample.cuh\"\n" +
      entry_text(kRoiAlignEntry, str(kSampleThreads), struct_parameter("cuda::RoiAlignArgument") + ", int64_t* fault",
                 str("roi_align_at<", element_name(x), ", ", element_name(rois), ">(args, fault)"));
  return source;
}

}  // namespace kiln::cuda
