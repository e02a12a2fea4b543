/// Softmax along one axis. Payload: axis, by its position in memory.
#include "backend/cpu/kernels/lanes/softmax.h"

#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/lanes.h"

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
  LoadedSoftmax(Team& team, size_t axis, const StepTensor& x) : team_(team), axis_(axis), x_(x) {}
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    TRY(require_extents(shapes.outputs[0], shapes.inputs[0], "softmax's output"));
    const LaneExtents e = lane_extents(in_memory_order(x_.format, shapes.inputs[0]), axis_, axis_);
    return std::make_unique<BoundSoftmax>(team_, SoftmaxShape{e.outer, e.length, e.inner, x_.dtype});
  }

 private:
  Team& team_;
  size_t axis_;
  StepTensor x_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_softmax(const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  const int axis = TRY(normalize_axis(TRY(arguments.spec.payload.get_int("axis")), x.rank));
  TRY(require(x.dtype == DType::kF32 || x.dtype == DType::kF16 || x.dtype == DType::kBF16, "a softmax of ", x.dtype));
  TRY(require_alike(arguments.spec.outputs[0], x, "softmax's output"));
  return std::make_unique<LoadedSoftmax>(arguments.team, static_cast<size_t>(axis), x);
}

}  // namespace kiln::cpu
