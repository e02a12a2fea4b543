#include "steps/pooling.h"

#include "backend/cpu/exec/executor.h"
#include "backend/cpu/kernels/pool/bytes.h"
#include "backend/cpu/kernels/pool/pool.h"
#include "ops/quantization.h"
#include "steps/by_function.h"

namespace kiln::cpu {
namespace {

PoolShape shape_of(const steps::Pooling& step, const Format& format, const Extents& x, const Extents& y) {
  const PoolLayout layout = format.is_linear() ? PoolLayout::kChannelsFirst : PoolLayout::kChannelsLast;
  const PoolKind kind = step.kind == ops::PoolingKind::kMax ? PoolKind::kMax
                        : step.excludes_padding             ? PoolKind::kAverageValid
                                                            : PoolKind::kAveragePadded;
  PoolShape shape{x[0], x[1], step.window.bind<Window>(x, y), {0, 0, 0}, kind, layout, 0, 0};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const size_t at = 5 - x.size() + i;
    shape.pad_after[at] = step.pad_after(i, x, y, shape.window.pad[at]);
  }
  return shape;
}

LoadResult load_bytes(const steps::Pooling& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  TRY(require(step.kind == ops::PoolingKind::kMax && x.format == Format::channels_last(x.rank), "a pooling of ",
              x.dtype, " by ", step.kind, " in format ", x.format, "; the kernel has maxima, channels last"));
  return loaded_step([step, x, &team = arguments.team](const StepShapes& shapes) {
    const PoolShape shape = shape_of(step, x.format, shapes.inputs[0], shapes.outputs[0]);
    return bound_step([&team, shape, is_signed = x.dtype == DType::kI8](const RunArguments& run) {
      pool_bytes(team, shape, is_signed, static_cast<const uint8_t*>(run.inputs[0]),
                 static_cast<uint8_t*>(run.outputs[0]));
    });
  });
}

}  // namespace

LoadResult load(const steps::Pooling& step, const LoadArguments& arguments) {
  const StepTensor& x = arguments.spec.inputs[0];
  if (is_byte(x.dtype)) return load_bytes(step, arguments);
  TRY(require(x.dtype == DType::kF32, "a pooling of ", x.dtype, "; the kernel takes f32"));
  TRY(require(step.kind != ops::PoolingKind::kMaxAverageBlend, "the CPU has no kernel for ", step.kind, " pooling"));
  return loaded_step([step, format = x.format, &team = arguments.team](const StepShapes& shapes) {
    const PoolShape shape = shape_of(step, format, shapes.inputs[0], shapes.outputs[0]);
    return bound_step([&team, shape](const RunArguments& run) {
      pool(team, shape, static_cast<const float*>(run.inputs[0]), static_cast<float*>(run.outputs[0]));
    });
  });
}

}  // namespace kiln::cpu
