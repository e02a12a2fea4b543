#include "steps/concatenation.h"

#include "backend/cpu/exec/copy_step.h"
#include "steps/lane_extents.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  Planner(int bytes, int axis, const Format& format) : bytes_(bytes), axis_(axis), format_(format) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    std::vector<Extents> inputs;
    for (const Extents& input : shapes.inputs) inputs.push_back(in_memory_order(format_, input));
    return plan_concatenation(bytes_, inputs, axis_);
  }

 private:
  int bytes_, axis_;
  Format format_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Concatenation& step, const LoadArguments& arguments) {
  const StepTensor& y = arguments.spec.outputs[0];
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(y.dtype)), step.axis, y.format));
}

}  // namespace kiln::cpu
