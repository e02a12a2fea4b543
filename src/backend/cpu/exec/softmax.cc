/// Softmax along one axis.
#include "steps/softmax.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/softmax.h"

namespace kiln::cpu {
namespace {

class BoundSoftmax final : public BoundStep {
 public:
  BoundSoftmax(Team& team, const SoftmaxShape& shape) : team_(team), shape_(shape) {}
  Status run(const RunArguments& arguments) override {
    softmax(team_, shape_, arguments.inputs[0], arguments.outputs[0]);
    return {};
  }

 private:
  Team& team_;
  SoftmaxShape shape_;
};

class LoadedSoftmax final : public LoadedStep {
 public:
  LoadedSoftmax(Team& team, const steps::Softmax& step, const StepTensor& x) : team_(team), step_(step), x_(x) {}

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = step_.lanes(x_.format, shapes.inputs[0]);
    return std::make_unique<BoundSoftmax>(team_, SoftmaxShape{e.outer, e.length, e.inner, x_.dtype});
  }

 private:
  Team& team_;
  steps::Softmax step_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Softmax& step, const LoadArguments& arguments) {
  return std::make_unique<LoadedSoftmax>(arguments.team, step, arguments.spec.inputs[0]);
}

}  // namespace kiln::cpu
