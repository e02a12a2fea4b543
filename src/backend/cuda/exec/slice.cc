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

/// A slice that may leave its source.
LoadResult load_leaving(SliceMode mode, const LoadArguments& arguments) {
  StepCode code = TRY(StepCode::load(arguments));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([mode, x = arguments.spec.inputs[0], code = std::move(code),
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const auto [starts, strides] = TRY(range_of(shapes));
    const auto ordered = [&](const Extents& extents) { return in_memory_order(x.format, extents); };
    const Extents from = ordered(shapes.inputs[0]), to = ordered(shapes.outputs[0]);
    const Extents first = ordered(starts), steps = ordered(strides);
    std::vector<Kernel<SliceLaunch>> kernels;
    for (SliceLaunch& launch : slice_launches({mode, from, to, first, steps}, bits_of(x.dtype) / 8))
      kernels.push_back(TRY(code.kernel(std::move(launch))));
    return bound_step([&inputs, kernels = std::move(kernels)](const RunArguments& run) mutable {
      const void *from = inputs.at(0, run), *fill = inputs.size() > 1 ? inputs.at(1, run) : nullptr;
      void* to = run.outputs[0];
      auto& [plan, function] = first_that(
          kernels, [&](const SliceLaunch& l) { return is_aligned(from, l.align) && is_aligned(to, l.align); });
      return plan.run(*run.stream, function, from, fill, to);
    });
  });
}

}  // namespace

LoadResult load(const steps::Slice& step, const LoadArguments& arguments) {
  if (step.mode != SliceMode::kStrictBounds) return load_leaving(step.mode, arguments);
  const auto plan =
      [format = arguments.spec.inputs[0].format](const StepShapes& shapes) -> Result<std::vector<StridedCopy>> {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    const auto [starts, strides] = TRY(range_of(shapes));
    if (volume(y) == 0) return std::vector<StridedCopy>();
    return std::vector{slice_copy(in_memory_order(format, x), in_memory_order(format, y),
                                  in_memory_order(format, starts), in_memory_order(format, strides))};
  };
  return load_moves(arguments, plan);
}

}  // namespace kiln::cuda
