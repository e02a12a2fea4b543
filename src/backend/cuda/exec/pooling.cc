#include "steps/pooling.h"

#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/pool/pool.h"

namespace kiln::cuda {
namespace {

/// The kernels that a step's tuning means, for its types and its window.
struct PoolKernels {
  int vec = 1;
  bool lines = false;
  std::optional<PoolPieces> pieces;
  std::optional<PoolTall> tall;

  static Result<PoolKernels> make(const steps::Pooling& step, DType type, const PoolTuning& tuning) {
    PoolKernels kernels{.vec = tuning.vec, .lines = tuning.lines, .pieces = {}, .tall = {}};
    const auto kind = static_cast<PoolKind>(step.kind);
    const auto& [kernel, strides, dilations, pads, same_upper, same_lower] = step.window;
    if (const auto& pieces = tuning.pieces)
      kernels.pieces = pool_pieces(type, kind, kernel, strides, dilations, pieces->left, pieces->vec);
    if (tuning.tall) kernels.tall = pool_tall(type, kind, kernel, strides, dilations);
    TRY(require(kernels.pieces.has_value() == tuning.pieces.has_value() && kernels.tall.has_value() == tuning.tall,
                "the pooling's kernel does not take windows of ", kernel, " by ", strides));
    return kernels;
  }
  std::string entry() const {
    if (pieces) return pieces->entry();
    if (tall) return tall->entry();
    return lines ? std::string(kPoolLinesEntry) : pool_entry(vec);
  }
};

PoolShape shape_of(const steps::Pooling& step, const Format& format, const Extents& x, const Extents& y) {
  PoolShape shape;
  shape.n = x[0];
  shape.channels = x[1];
  shape.window = step.window.bind<ConvWindow>(x, y);
  shape.x = strides_of(format, x);
  shape.y = strides_of(format, y);
  shape.excludes_padding = step.excludes_padding;
  shape.blend = static_cast<float>(step.blend);
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const size_t at = 5 - x.size() + i;
    const int64_t pad = step.pad_after(i, x, y, shape.window.pad[at]);
    shape.pad_after[at] = static_cast<int32_t>(std::min<int64_t>(pad, INT32_MAX));
  }
  return shape;
}

/// A launch for addresses that are aligned to so many bytes.
struct AlignedLaunch {
  PoolLaunch launch;
  int64_t align;
};
Result<std::optional<AlignedLaunch>> fast_launch(const PoolKernels& kernels, const PoolShape& shape, DType type,
                                                 int num_sms) {
  const auto& [vec, lines, pieces, tall] = kernels;
  const bool vectors = vec > 1 && shape.x.channel == 1 && shape.y.channel == 1 && shape.channels % vec == 0;
  std::optional<PoolLaunch> fast;
  if (vectors) fast = tall ? TRY(pool_tall_launch(shape, *tall, type)) : TRY(pool_launch(shape, vec));
  if (lines) fast = TRY(pool_lines_launch(shape, num_sms));
  if (pieces) fast = TRY(pool_pieces_launch(shape, *pieces));
  if (!fast) return std::nullopt;
  int64_t align = vectors ? vec : 1;  // in elements
  if (pieces) align = std::max(pieces->vec, fast->argument.whole ? pieces->out : 1);
  return AlignedLaunch{*fast, std::min<int64_t>(align * bits_of(type) / 8, 16)};
}

}  // namespace

LoadResult load(const steps::Pooling& step, const LoadArguments& arguments) {
  const PoolTuning tuning = TRY(from_record<PoolTuning>(arguments.spec.tuning));
  PoolKernels kernels = TRY(PoolKernels::make(step, arguments.spec.inputs[0].dtype, tuning));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(kernels.entry())), plain = TRY(code.function(pool_entry(1)));
  StepInputs inputs = TRY(StepInputs::upload(arguments));
  return loaded_step([num_sms = arguments.device.properties().num_multiprocessors, x = arguments.spec.inputs[0], step,
                      kernels = std::move(kernels), code = std::move(code), function, plain,
                      inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const PoolShape shape = shape_of(step, x.format, shapes.inputs[0], shapes.outputs[0]);
    const PoolLaunch plain_launch = TRY(pool_launch(shape, 1));
    TRY(plain.check(plain_launch.shape));
    const auto fast = TRY(fast_launch(kernels, shape, x.dtype, num_sms));
    if (fast) TRY(function.check(fast->launch.shape));
    std::vector<Kernel<AlignedLaunch>> ways;
    if (fast) ways.push_back({*fast, function});
    ways.push_back({{plain_launch, 1}, plain});
    return bound_step([&inputs, ways = std::move(ways)](const RunArguments& run) mutable {
      const void* from = inputs.at(0, run);
      void* to = run.outputs[0];
      auto& [chosen, kernel] = first_that(
          ways, [&](const AlignedLaunch& l) { return is_aligned(from, l.align) && is_aligned(to, l.align); });
      chosen.launch.argument.x = from;
      chosen.launch.argument.y = to;
      void* pointers[] = {&chosen.launch.argument};
      return launch(*run.stream, kernel, chosen.launch.shape, pointers);
    });
  });
}

}  // namespace kiln::cuda
