#include "steps/copy.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

Result<Copy> plan_copy(const StepTensor& from, const StepTensor& to, const Extents& x) {
  if (bits_of(from.dtype) < 8) {  // packed elements move as bytes where the order stays
    const Extents bytes{size_bytes(from.dtype, from.format.storage_volume(x))};
    return plan_reformat(1, bytes, {}, {});
  }
  TRY(require(!from.format.is_blocked() || !to.format.is_blocked() ||
                  (from.format.block() == to.format.block() && from.format.block_axis() == to.format.block_axis()),
              "a copy from format ", from.format, " to ", to.format, " would change blocks, which no CPU kernel does"));
  return plan_reformat(TRY(element_bytes(from.dtype)), x, from.format, to.format);
}

}  // namespace

LoadResult load(const steps::Copy&, const LoadArguments& arguments) {
  const StepTensor &from = arguments.spec.inputs[0], &to = arguments.spec.outputs[0];
  TRY(require(!arguments.constants[0] || !from.format.is_blocked(), "a constant is linear, not in format ",
              from.format));
  return loaded_copy(arguments, [from, to](const StepShapes& shapes) { return plan_copy(from, to, shapes.inputs[0]); });
}

}  // namespace kiln::cpu
