/// A chain of pointwise ops as one step. Inputs broadcast against output 0, axes aligned at the right.
/// Payload: the program.
#include "backend/cpu/kernels/nest/nest.h"

#include <algorithm>

#include "backend/cpu/exec/executor.h"

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
    const Extents& y = shapes.outputs[0];
    for (const Extents& output : shapes.outputs) TRY(require_extents(output, y, "a nest's output"));
    const auto fits = [](int64_t from, int64_t to) { return from == 1 || from == to; };
    for (const Extents& x : shapes.inputs)
      TRY(require(x.size() <= y.size() && std::equal(x.rbegin(), x.rend(), y.rbegin(), fits), x,
                  " is not broadcast to ", y));
    return std::make_unique<BoundNestStep>(nest_, team_, spec_, shapes);
  }

 private:
  Nest nest_;
  Team& team_;
  StepSpec spec_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_nest(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Nest nest = TRY(Nest::make(TRY(from_record<NestProgram>(spec.payload))));
  TRY(require(nest.program().inputs.size() == spec.inputs.size() &&
                  nest.program().outputs.size() == spec.outputs.size() && !spec.outputs.empty(),
              "a nest of ", nest.program().inputs.size(), " inputs has ", spec.inputs.size(), " tensors"));
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    TRY(require(spec.inputs[i].dtype == nest.program().inputs[i], "input ", i, " of a nest is ", spec.inputs[i].dtype,
                "; its program reads ", nest.program().inputs[i]));
  for (size_t i = 0; i < spec.outputs.size(); ++i)
    TRY(require(spec.outputs[i].dtype == nest.program().outputs[i], "output ", i, " of a nest is ",
                spec.outputs[i].dtype, "; its program writes ", nest.program().outputs[i]));
  return std::make_unique<LoadedNest>(std::move(nest), arguments.team, spec);
}

}  // namespace kiln::cpu
