#include "steps/expand.h"

#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

class Planner final : public CopyPlanner {
 public:
  explicit Planner(int bytes) : bytes_(bytes) {}
  Result<Copy> plan(const StepShapes& shapes) const override {
    return plan_expand(bytes_, shapes.inputs[0], shapes.outputs[0]);
  }

 private:
  int bytes_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Expand&, const LoadArguments& arguments) {
  return make_copy_loader(arguments, std::make_unique<Planner>(TRY(element_bytes(arguments.spec.inputs[0].dtype))));
}

}  // namespace kiln::cpu
