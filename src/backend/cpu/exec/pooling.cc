#include "steps/pooling.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/pool/pool.h"

namespace kiln::cpu {
namespace {

class BoundPooling final : public BoundStep {
 public:
  BoundPooling(Team& team, const PoolShape& shape) : team_(team), shape_(shape) {}
  Status run(const RunArguments& arguments) override {
    pool(team_, shape_, static_cast<const float*>(arguments.inputs[0]), static_cast<float*>(arguments.outputs[0]));
    return {};
  }

 private:
  Team& team_;
  PoolShape shape_;
};

class LoadedPooling final : public LoadedStep {
 public:
  LoadedPooling(Team& team, const steps::Pooling& step, const StepTensor& x)
      : team_(team),
        step_(step),
        layout_(x.format.is_linear() ? PoolLayout::kChannelsFirst : PoolLayout::kChannelsLast) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const PoolKind kind = step_.kind == ops::PoolingKind::kMax ? PoolKind::kMax
                          : step_.excludes_padding             ? PoolKind::kAverageValid
                                                               : PoolKind::kAveragePadded;
    PoolShape shape{x[0], x[1], step_.window.bind<Window>(x, y), {0, 0, 0}, kind, layout_, 0, 0};
    for (size_t i = 0; i + 2 < x.size(); ++i) {
      const size_t at = 5 - x.size() + i;
      shape.pad_after[at] = step_.pad_after(i, x, y, shape.window.pad[at]);
    }
    return std::make_unique<BoundPooling>(team_, shape);
  }

 private:
  Team& team_;
  steps::Pooling step_;
  PoolLayout layout_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Pooling& step, const LoadArguments& arguments) {
  const DType type = arguments.spec.inputs[0].dtype;
  TRY(require(type == DType::kF32, "a pooling of ", type, "; the kernel takes f32"));
  TRY(require(step.kind != ops::PoolingKind::kMaxAverageBlend, "a pooling by ", step.kind, ", which has no kernel"));
  return std::make_unique<LoadedPooling>(arguments.team, step, arguments.spec.inputs[0]);
}

}  // namespace kiln::cpu
