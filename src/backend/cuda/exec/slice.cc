#include "steps/slice.h"

#include "backend/cuda/exec/move_step.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/move/slice.h"
#include "tensor/memory_order.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kFarthest = int64_t{1} << 48;

/// Starts and strides from a step's parameters; coordinates stay well inside of 64 bits.
struct Range {
  Extents starts, strides;
};
Result<Range> range_of(const StepShapes& shapes) {
  const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
  const size_t rank = x.size();
  Range range{Extents(rank, 0), Extents(rank, 1)};
  if (volume(y) == 0) return range;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t start = range.starts[axis] = shapes.params[axis];
    if (y[axis] > 1) range.strides[axis] = shapes.params[rank + axis];
    int64_t last = 0;
    const auto is_near = [](int64_t at) { return at > -kFarthest && at < kFarthest; };
    const bool near = is_near(start) && !__builtin_mul_overflow(range.strides[axis], y[axis] - 1, &last) &&
                      is_near(last) && is_near(last + start);
    TRY(require(near, "a slice of ", x, " from ", start, " by steps of ", range.strides[axis], " along axis ", axis,
                " counts beyond 2^48; slice less"));
  }
  return range;
}

class Planner final : public MovePlanner {
 public:
  explicit Planner(const Format& format) : format_(format) {}
  Result<std::vector<StridedCopy>> plan(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const auto [starts, strides] = TRY(range_of(shapes));
    if (volume(y) == 0) return std::vector<StridedCopy>();
    return std::vector{slice_copy(in_memory_order(format_, x), in_memory_order(format_, y),
                                  in_memory_order(format_, starts), in_memory_order(format_, strides))};
  }

 private:
  Format format_;
};

/// A slice that may leave its source.
class BoundSliceStep final : public BoundStep {
 public:
  struct Kernel {
    SliceLaunch launch;
    Function function;
  };
  BoundSliceStep(const StepInputs& inputs, std::vector<Kernel> kernels)
      : inputs_(inputs), kernels_(std::move(kernels)) {}
  Status run(const RunArguments& arguments) override {
    const void *from = inputs_.at(0, arguments), *fill = inputs_.size() > 1 ? inputs_.at(1, arguments) : nullptr;
    void* to = arguments.outputs[0];
    size_t i = 0;
    const auto fits = [&](const SliceLaunch& l) { return is_aligned(from, l.align) && is_aligned(to, l.align); };
    while (i + 1 < kernels_.size() && !fits(kernels_[i].launch)) ++i;
    return kernels_[i].launch.run(*arguments.stream, kernels_[i].function, from, fill, to);
  }

 private:
  const StepInputs& inputs_;
  std::vector<Kernel> kernels_;
};

class LoadedSlice final : public LoadedStep {
 public:
  LoadedSlice(SliceMode mode, const StepTensor& x, StepInputs inputs, StepCode code)
      : mode_(mode), x_(x), inputs_(std::move(inputs)), code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const auto [starts, strides] = TRY(range_of(shapes));
    const auto ordered = [&](const Extents& extents) { return in_memory_order(x_.format, extents); };
    const Extents from = ordered(shapes.inputs[0]), to = ordered(shapes.outputs[0]);
    const Extents first = ordered(starts), steps = ordered(strides);
    std::vector<BoundSliceStep::Kernel> kernels;
    for (SliceLaunch& launch : slice_launches({mode_, from, to, first, steps}, bits_of(x_.dtype) / 8)) {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      kernels.push_back({std::move(launch), function});
    }
    return std::make_unique<BoundSliceStep>(inputs_, std::move(kernels));
  }

 private:
  SliceMode mode_;
  StepTensor x_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Slice& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  if (step.mode == SliceMode::kStrictBounds) return make_move_loader(arguments, std::make_unique<Planner>(x.format));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedSlice>(step.mode, x, TRY(StepInputs::upload(arguments)), std::move(code));
}

}  // namespace kiln::cuda
