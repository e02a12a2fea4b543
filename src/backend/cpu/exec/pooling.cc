/// Pooling, channels first or last. Payload: the window, post_pads, average, excludes_padding.
#include "backend/cpu/exec/checks.h"
#include "backend/cpu/exec/window.h"
#include "backend/cpu/kernels/pool/pool.h"

namespace kiln::cpu {
namespace {

struct Attributes {
  WindowSpec window;
  Extents post_pads;
  PoolKind kind = PoolKind::kMax;
  PoolLayout layout = PoolLayout::kChannelsFirst;
};

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
  LoadedPooling(Team& team, Attributes a) : team_(team), a_(std::move(a)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents& x = shapes.inputs[0];
    TRY(a_.window.check(x, shapes.outputs[0]));
    TRY(require(shapes.outputs[0][1] == x[1], "a pooling of ", x, " makes ", shapes.outputs[0]));
    PoolShape shape{x[0], x[1], a_.window.bind(x, shapes.outputs[0]), {0, 0, 0}, a_.kind, a_.layout, 0, 0};
    const size_t axes = a_.post_pads.size();
    for (size_t i = 0; i < axes; ++i) {
      const size_t at = 3 - axes + i;
      shape.pad_after[at] = a_.post_pads[i];
      if (a_.window.same_upper || a_.window.same_lower)  // SAME pads until every window has what it reads
        shape.pad_after[at] = std::max<int64_t>(0, shape.window.start(static_cast<int>(at), shape.window.out[at] - 1) +
                                                       shape.window.dilation[at] * (shape.window.kernel[at] - 1) + 1 -
                                                       shape.window.in[at]);
    }
    return std::make_unique<BoundPooling>(team_, shape);
  }

 private:
  Team& team_;
  Attributes a_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_pooling(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Attributes a;
  a.window = TRY(WindowSpec::parse(spec.payload));
  TRY(require_types(spec, DType::kF32));
  TRY(require_alike(spec.outputs[0], spec.inputs[0], "a pooling's output"));
  a.post_pads = TRY(spec.payload.get_ints("post_pads"));
  TRY(require(a.post_pads.size() == a.window.kernel.size(), "a pooling has ", a.post_pads.size(), " post pads"));
  for (const int64_t pad : a.post_pads)
    TRY(require(pad > -(int64_t{1} << 30) && pad < int64_t{1} << 30, "a pooling has a pad of ", pad));
  const bool average = TRY(spec.payload.get_bool("average"));
  const bool excludes_padding = TRY(spec.payload.get_bool("excludes_padding"));
  a.kind = !average ? PoolKind::kMax : excludes_padding ? PoolKind::kAverageValid : PoolKind::kAveragePadded;
  a.layout = spec.inputs[0].format.is_linear() ? PoolLayout::kChannelsFirst : PoolLayout::kChannelsLast;
  return std::make_unique<LoadedPooling>(arguments.team, std::move(a));
}

}  // namespace kiln::cpu
