#include "backend/cuda/tactics/move.h"

#include <algorithm>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/compile/move/move.h"
#include "backend/cuda/kernels/move/reformat.h"

namespace kiln::cuda {

Result<std::shared_ptr<const Bytes>> compile_moves(CudaDevice& device, DType dtype,
                                                   FunctionRef<std::vector<StridedCopy>(ExtentsOf)> copies) {
  std::vector<MoveKernel> kernels;
  for (const ExtentsOf at : {&TensorType::opt_extents, &TensorType::max_extents})
    for (const MoveKernel& kernel : move_kernels_for(bits_of(dtype) / 8, copies(at)))
      if (std::ranges::find(kernels, kernel) == kernels.end()) kernels.push_back(kernel);
  return compiler_of(device).compile(move_source(kernels));
}

Result<std::shared_ptr<const Bytes>> compile_copy(CudaDevice& device, const TensorType& type, const Format& from,
                                                  const Format& to) {
  TRY(check_reformat(type.rank(), from, to));
  if (bits_of(type.dtype) < 8)  // packed elements move as bytes
    return compile_moves(device, DType::kU8, [&](ExtentsOf at) {
      const Extents bytes{size_bytes(type.dtype, from.storage_volume((type.*at)()))};
      return std::vector{reformat_copy(bytes, {}, {})};
    });
  return compile_moves(device, type.dtype, [&](ExtentsOf at) { return reformat_copies((type.*at)(), from, to); });
}

}  // namespace kiln::cuda
