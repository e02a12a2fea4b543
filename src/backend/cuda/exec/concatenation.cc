#include "steps/concatenation.h"

#include "backend/cuda/exec/move_step.h"
#include "tensor/memory_order.h"

namespace kiln::cuda {
namespace {

class Planner final : public MovePlanner {
 public:
  Planner(int axis, const Format& format) : axis_(axis), format_(format) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format_, input));
    return concatenation_copies(inputs, axis_);
  }

 private:
  int axis_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Concatenation& step, const LoadArguments& arguments) {
  return make_move_loader(arguments, std::make_unique<Planner>(step.axis, arguments.spec.outputs[0].format));
}

}  // namespace kiln::cuda
