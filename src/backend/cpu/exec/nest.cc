#include "steps/nest.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/nest/nest.h"

namespace kiln::cpu {
namespace {

/// Strides of a tensor by axis of `space`; 0 along axes that it lacks or repeats.
NestStrides strides_in(const StepTensor& tensor, const Extents& extents, const Extents& space) {
  NestStrides strides;
  const Extents own = tensor.format.strides(extents);
  const size_t missing = space.size() - extents.size();
  for (size_t axis = missing; axis < space.size(); ++axis)
    strides.at[axis] = extents[axis - missing] == 1 ? 0 : own[axis - missing];
  return strides;
}

class BoundNestStep final : public BoundStep {
 public:
  BoundNestStep(const Nest& nest, Team& team, const StepSpec& spec, const StepShapes& shapes)
      : nest_(nest), team_(team) {
    const Extents& space = shapes.outputs[0];
    std::vector<NestStrides> strides;
    for (size_t i = 0; i < spec.inputs.size(); ++i)
      strides.push_back(strides_in(spec.inputs[i], shapes.inputs[i], space));
    for (size_t i = 0; i < spec.outputs.size(); ++i)
      strides.push_back(strides_in(spec.outputs[i], shapes.outputs[i], space));
    bound_ = BoundNest(nest, space, strides);
  }
  Status run(const RunArguments& arguments) override {
    bound_.run(nest_, team_, arguments.inputs, arguments.outputs);
    return {};
  }

 private:
  const Nest& nest_;
  Team& team_;
  BoundNest bound_;
};

class LoadedNest final : public LoadedStep {
 public:
  LoadedNest(Nest nest, Team& team, StepSpec spec) : nest_(std::move(nest)), team_(team), spec_(std::move(spec)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundNestStep>(nest_, team_, spec_, shapes);
  }

 private:
  Nest nest_;
  Team& team_;
  StepSpec spec_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Nest& step, const LoadArguments& arguments) {
  return std::make_unique<LoadedNest>(TRY(Nest::make(step.program)), arguments.team, arguments.spec);
}

}  // namespace kiln::cpu
