#include "backend/cpu/kernels/product/product_in_kind.h"

#include "backend/cpu/exec/executor.h"
#include "steps/by_function.h"
#include "steps/product_in_kind.h"

namespace kiln::cpu {

LoadResult load(const steps::ProductInKind& step, const LoadArguments& arguments) {
  return loaded_step(
      [op = step.op, dtype = arguments.spec.inputs[0].dtype, &team = arguments.team](const StepShapes& shapes) {
        ProductShape shape = ProductShape::of(op, shapes.inputs[0], shapes.inputs[1]);
        shape.join_rows();
        return bound_step([&team, dtype, shape = std::move(shape)](const RunArguments& run) {
          product_in_kind(team, shape, dtype, run.inputs[0], run.inputs[1], run.outputs[0]);
        });
      });
}

}  // namespace kiln::cpu
