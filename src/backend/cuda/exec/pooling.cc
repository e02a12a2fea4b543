#include "steps/pooling.h"

#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/pool/pool.h"

namespace kiln::cuda {
namespace {

/// The kernels that a step's tuning means, for its types and its window.
struct Kernels {
  int vec = 1;
  bool lines = false;
  std::optional<PoolPieces> pieces;
  std::optional<PoolTall> tall;

  static Result<Kernels> make(const steps::Pooling& step, DType type, const PoolTuning& tuning) {
    Kernels kernels{.vec = tuning.vec, .lines = tuning.lines, .pieces = {}, .tall = {}};
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

class BoundPooling final : public BoundStep {
 public:
  BoundPooling(const StepInputs& inputs, const Function& function, const Function& plain, int64_t align,
               const PoolLaunch& launch, const PoolLaunch& plain_launch)
      : inputs_(inputs),
        function_(function),
        plain_(plain),
        align_(align),
        launch_(launch),
        plain_launch_(plain_launch) {}
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    const bool aligned = is_aligned(x, align_) && is_aligned(y, align_);
    PoolLaunch& chosen = aligned ? launch_ : plain_launch_;
    chosen.argument.x = x;
    chosen.argument.y = y;
    void* pointers[] = {&chosen.argument};
    return launch(*arguments.stream, aligned ? function_ : plain_, chosen.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  const Function &function_, &plain_;
  int64_t align_;
  PoolLaunch launch_, plain_launch_;
};

class LoadedPooling final : public LoadedStep {
 public:
  LoadedPooling(const LoadArguments& arguments, const steps::Pooling& step, Kernels kernels, StepInputs inputs,
                StepCode code, const Function& function, const Function& plain)
      : num_sms_(arguments.device.properties().num_multiprocessors),
        x_(arguments.spec.inputs[0]),
        step_(step),
        kernels_(std::move(kernels)),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        function_(function),
        plain_(plain) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const PoolShape shape = shape_of(shapes.inputs[0], shapes.outputs[0]);
    const auto& [vec, lines, pieces, tall] = kernels_;
    const bool vectors = vec > 1 && shape.x.channel == 1 && shape.y.channel == 1 && shape.channels % vec == 0;
    const PoolLaunch plain = TRY(pool_launch(shape, 1));
    std::optional<PoolLaunch> fast;
    if (vectors) fast = tall ? TRY(pool_tall_launch(shape, *tall, x_.dtype)) : TRY(pool_launch(shape, vec));
    if (lines) fast = TRY(pool_lines_launch(shape, num_sms_));
    if (pieces) fast = TRY(pool_pieces_launch(shape, *pieces));
    TRY(plain_.check(plain.shape));
    if (fast) TRY(function_.check(fast->shape));
    int64_t align = vectors ? vec : 1;  // in elements
    if (pieces && fast) align = std::max(pieces->vec, fast->argument.whole ? pieces->out : 1);
    align = std::min<int64_t>(align * bits_of(x_.dtype) / 8, 16);
    return std::make_unique<BoundPooling>(inputs_, fast ? function_ : plain_, plain_, align, fast.value_or(plain),
                                          plain);
  }

 private:
  PoolShape shape_of(const Extents& x, const Extents& y) const {
    PoolShape shape;
    shape.n = x[0];
    shape.channels = x[1];
    shape.window = step_.window.bind<ConvWindow>(x, y);
    shape.x = strides_of(x_.format, x);
    shape.y = strides_of(x_.format, y);
    shape.excludes_padding = step_.excludes_padding;
    shape.blend = static_cast<float>(step_.blend);
    for (size_t i = 0; i + 2 < x.size(); ++i) {
      const size_t at = 5 - x.size() + i;
      const int64_t pad = step_.pad_after(i, x, y, shape.window.pad[at]);
      shape.pad_after[at] = static_cast<int32_t>(std::min<int64_t>(pad, INT32_MAX));
    }
    return shape;
  }

  int num_sms_;
  StepTensor x_;
  steps::Pooling step_;
  Kernels kernels_;
  StepInputs inputs_;
  StepCode code_;
  Function function_, plain_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Pooling& step, const LoadArguments& arguments) {
  const PoolTuning tuning = TRY(from_record<PoolTuning>(arguments.spec.tuning));
  Kernels kernels = TRY(Kernels::make(step, arguments.spec.inputs[0].dtype, tuning));
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function(kernels.entry())), plain = TRY(code.function(pool_entry(1)));
  return std::make_unique<LoadedPooling>(arguments, step, std::move(kernels), TRY(StepInputs::upload(arguments)),
                                         std::move(code), function, plain);
}

}  // namespace kiln::cuda
