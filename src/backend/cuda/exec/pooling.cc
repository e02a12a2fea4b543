/// Pooling, channels first or last. Payload: the window, post_pads, excludes_padding, blend, vec (channels of a load),
/// lines (whether there is a kernel for columns that lie together), or of a kernel for pieces of rows: left (columns in
/// front of x), pieces (columns of a load). tall is there where the kernel for tall windows is.
#include "backend/cuda/exec/filter.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"
#include "backend/cuda/kernels/pool/pool.h"

namespace kiln::cuda {
namespace {

struct Attributes {
  FilterSpec window;
  Extents post_pads;
  bool excludes_padding = true, lines = false;
  std::optional<PoolPieces> pieces;
  std::optional<PoolTall> tall;
  float blend = 0;
  int vec = 1;
  StepTensor x, y;
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
  LoadedPooling(Attributes a, int num_sms, StepInputs inputs, StepCode code, const Function& function,
                const Function& plain)
      : a_(std::move(a)),
        num_sms_(num_sms),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        function_(function),
        plain_(plain) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Extents &x = shapes.inputs[0], &y = shapes.outputs[0];
    TRY(a_.window.check(x, y));
    TRY(require(x[1] == y[1], "a pooling of ", x, " to ", y));
    PoolShape shape;
    shape.n = x[0];
    shape.channels = x[1];
    shape.window = a_.window.bind(x, y);
    shape.x = strides_of(a_.x.format, x);
    shape.y = strides_of(a_.y.format, y);
    shape.excludes_padding = a_.excludes_padding;
    shape.blend = a_.blend;
    const size_t axes = a_.post_pads.size();
    const ConvWindow& w = shape.window;
    for (size_t i = 0; i < axes; ++i) {
      const size_t at = 3 - axes + i;
      shape.pad_after[at] = static_cast<int32_t>(a_.post_pads[i]);
      if (a_.window.same_upper || a_.window.same_lower)  // SAME pads until every window has what it reads
        shape.pad_after[at] =
            static_cast<int32_t>(std::clamp<int64_t>((int64_t{w.out[at]} - 1) * w.stride[at] - w.pad[at] +
                                                         int64_t{w.dilation[at]} * (w.kernel[at] - 1) + 1 - w.in[at],
                                                     0, INT32_MAX));
    }
    const bool vectors = a_.vec > 1 && shape.x.channel == 1 && shape.y.channel == 1 && shape.channels % a_.vec == 0;
    const PoolLaunch plain = TRY(pool_launch(shape, 1));
    std::optional<PoolLaunch> fast;
    if (vectors) fast = a_.tall ? TRY(pool_tall_launch(shape, *a_.tall, a_.x.dtype)) : TRY(pool_launch(shape, a_.vec));
    if (a_.lines) fast = TRY(pool_lines_launch(shape, num_sms_));
    if (a_.pieces) fast = TRY(pool_pieces_launch(shape, *a_.pieces));
    TRY(plain_.check(plain.shape));
    if (fast) TRY(function_.check(fast->shape));
    int64_t align = vectors ? a_.vec : 1;  // in elements
    if (a_.pieces && fast) align = std::max(a_.pieces->vec, fast->argument.whole ? a_.pieces->out : 1);
    align = std::min<int64_t>(align * bits_of(a_.x.dtype) / 8, 16);
    return std::make_unique<BoundPooling>(inputs_, fast ? function_ : plain_, plain_, align, fast.value_or(plain),
                                          plain);
  }

 private:
  Attributes a_;
  int num_sms_;
  StepInputs inputs_;
  StepCode code_;
  Function function_, plain_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_pooling(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Attributes a;
  a.window = TRY(FilterSpec::parse(spec.payload));
  a.post_pads = TRY(spec.payload.get_ints("post_pads"));
  TRY(require(a.post_pads.size() == a.window.kernel.size(), "a pooling has ", a.post_pads.size(), " post pads"));
  a.excludes_padding = TRY(spec.payload.get_bool("excludes_padding"));
  a.blend = static_cast<float>(TRY(spec.payload.get_double("blend")));
  const int64_t vec = TRY(spec.payload.get_int("vec"));
  TRY(require(vec == 1 || vec == 2 || vec == 4 || vec == 8, "a pooling loads ", vec, " elements at once"));
  a.vec = static_cast<int>(vec);
  a.lines = TRY(spec.payload.get_bool("lines"));
  TRY(require(!a.lines || a.vec == 1, "a pooling of lines loads ", vec, " channels at once"));
  if (spec.payload.find("pieces")) {
    const int64_t pieces = TRY(spec.payload.get_int("pieces"));
    TRY(require(pieces == 1 || pieces == 2 || pieces == 4 || pieces == 8, "a pooling loads ", pieces,
                " columns at once"));
    a.pieces = pool_pieces(spec.inputs[0].dtype, PoolKind::kMax, a.window.kernel, a.window.strides, a.window.dilations,
                           TRY(spec.payload.get_int("left")), static_cast<int>(pieces));
    TRY(require(a.pieces && !a.lines && a.vec == 1, "a pooling by pieces of rows has a window of ", a.window.kernel,
                " by ", a.window.strides));
  }
  if (spec.payload.find("tall")) {
    a.tall = pool_tall(spec.inputs[0].dtype, PoolKind::kAverage, a.window.kernel, a.window.strides, a.window.dilations);
    TRY(require(a.tall && !a.pieces && !a.lines, "a pooling by tall windows has windows of ", a.window.kernel, " by ",
                a.window.strides));
  }
  a.x = spec.inputs[0];
  a.y = spec.outputs[0];
  TRY(element_bytes(a.x.dtype));
  TRY(require(!a.window.transposed && a.x.dtype == a.y.dtype, "a pooling from ", a.x.dtype, " to ", a.y.dtype));
  StepCode code = TRY(StepCode::load(arguments));
  const std::string entry = a.pieces  ? a.pieces->entry()
                            : a.tall  ? a.tall->entry()
                            : a.lines ? std::string(kPoolLinesEntry)
                                      : pool_entry(a.vec);
  const Function function = TRY(code.function(entry)), plain = TRY(code.function(pool_entry(1)));
  return std::make_unique<LoadedPooling>(std::move(a), arguments.device.properties().num_multiprocessors,
                                         TRY(StepInputs::upload(arguments)), std::move(code), function, plain);
}

}  // namespace kiln::cuda
