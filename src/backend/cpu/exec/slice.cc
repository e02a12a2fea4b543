#include "steps/slice.h"

#include "backend/cpu/exec/copy_step.h"
#include "tensor/memory_order.h"

namespace kiln::cpu {

LoadResult load(const steps::Slice& step, const LoadArguments& arguments) {
  const Format& format = arguments.spec.inputs[0].format;
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  return loaded_copy(arguments, [mode = step.mode, bytes, format](const StepShapes& shapes) {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const std::span<const int64_t> starts = shapes.params.first(x.size()), strides = shapes.params.subspan(x.size());
    return plan_slice(bytes, mode, in_memory_order(format, x), in_memory_order(format, y),
                      in_memory_order(format, starts), in_memory_order(format, strides));
  });
}

}  // namespace kiln::cpu
