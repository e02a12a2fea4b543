#include "steps/reduce.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/lanes/reduce.h"

namespace kiln::cpu {
namespace {

/// An average is a sum that is divided.
Reduction reduction_of(const steps::Reduce& step) {
  return step.averages() ? Reduction::kSum : static_cast<Reduction>(step.kind);
}

class BoundReduce final : public BoundStep {
 public:
  BoundReduce(Team& team, const steps::Reduce& step, DType in, DType out, const ReduceShape& shape)
      : team_(team), step_(step), in_(in), out_(out), shape_(shape) {}
  Status run(const RunArguments& arguments) override {
    reduce(team_, reduction_of(step_), shape_, in_, arguments.inputs[0], out_, arguments.outputs[0],
           step_.averages() ? shape_.length : 1);
    return {};
  }

 private:
  Team& team_;
  const steps::Reduce& step_;
  DType in_, out_;
  ReduceShape shape_;
};

class LoadedReduce final : public LoadedStep {
 public:
  LoadedReduce(Team& team, const steps::Reduce& step, const StepTensor& x, DType out)
      : team_(team), step_(step), x_(x), out_(out) {}

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const LaneExtents e = step_.lanes(x_.format, shapes.inputs[0]);
    return std::make_unique<BoundReduce>(team_, step_, x_.dtype, out_, ReduceShape{e.outer, e.length, e.inner});
  }

 private:
  Team& team_;
  steps::Reduce step_;
  StepTensor x_;
  DType out_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Reduce& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  const DType out = arguments.spec.outputs[0].dtype;
  TRY(require(step.are_neighbours(), "a reduction of axes ", step.axes, ", which are no neighbours in memory"));
  TRY(require(can_reduce(x.dtype, out), "a reduction from ", x.dtype, " to ", out));
  return std::make_unique<LoadedReduce>(arguments.team, step, x, out);
}

}  // namespace kiln::cpu
