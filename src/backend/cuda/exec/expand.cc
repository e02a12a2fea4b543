#include "steps/expand.h"

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

Result<std::unique_ptr<LoadedStep>> load(const steps::Expand&, const LoadArguments& arguments) {
  return make_move_loader(arguments, std::make_unique<Planner>());
}

}  // namespace kiln::cuda
