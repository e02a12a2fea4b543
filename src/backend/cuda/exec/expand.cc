/// A row-major tensor broadcast to the output's extents.
#include "backend/cuda/exec/move_step.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    return std::vector{expand_copy(shapes.inputs[0], shapes.outputs[0])};
  }
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_expand(const LoadArguments& arguments) {
  return make_move_loader(arguments, TRY(element_bytes(arguments.spec.inputs.at(0).dtype)),
                          std::make_unique<Planner>());
}

}  // namespace kiln::cuda
