#include "steps/copy.h"

#include "backend/cuda/exec/move_step.h"
#include "backend/cuda/kernels/move/reformat.h"

namespace kiln::cuda {

LoadResult load(const steps::Copy&, const LoadArguments& arguments) {
  const StepTensor &from = arguments.spec.inputs[0], &to = arguments.spec.outputs[0];
  TRY(check_reformat(from.rank, from.format, to.format));
  TRY(require(!arguments.constants[0] || !from.format.is_blocked(), "a constant is linear, not ", from.format));
  return load_moves(arguments, [from, to](const StepShapes& shapes) -> Result<std::vector<StridedCopy>> {
    if (bits_of(from.dtype) < 8) {  // packed elements move as bytes where the order stays
      const Extents bytes{size_bytes(from.dtype, from.format.storage_volume(shapes.inputs[0]))};
      return std::vector{reformat_copy(bytes, {}, {})};
    }
    return reformat_copies(shapes.inputs[0], from.format, to.format);
  });
}

}  // namespace kiln::cuda
