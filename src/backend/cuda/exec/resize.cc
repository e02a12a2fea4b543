/// Resampling in any unblocked format. Payload: the op, whether its extents came from its sizes input, width (elements
/// of a load).
#include "backend/cuda/kernels/resize/resize.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/lanes/tile.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  ResizeLaunch launch;
  Function function;
};

class BoundResize final : public BoundStep {
 public:
  BoundResize(const StepInputs& inputs, std::shared_ptr<const Buffer> index, std::shared_ptr<const Buffer> weight,
              std::vector<Kernel> kernels)
      : inputs_(inputs), index_(std::move(index)), weight_(std::move(weight)), kernels_(std::move(kernels)) {}
  Status run(const RunArguments& arguments) override {
    const void* x = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    const auto fits = [&](const ResizeLaunch& l) { return is_aligned(x, l.align) && is_aligned(y, l.align); };
    while (i + 1 < kernels_.size() && !fits(kernels_[i].launch)) ++i;
    ResizeArgument& a = kernels_[i].launch.argument;
    a.x = x;
    a.y = y;
    a.index = index_ ? index_->data() : nullptr;
    a.weight = weight_ ? weight_->data() : nullptr;
    void* pointers[] = {&a};
    return launch(*arguments.stream, kernels_[i].function, kernels_[i].launch.shape, pointers);
  }

 private:
  const StepInputs& inputs_;
  std::shared_ptr<const Buffer> index_, weight_;
  std::vector<Kernel> kernels_;
};

class LoadedResize final : public LoadedStep {
 public:
  LoadedResize(const LoadArguments& arguments, Op op, bool from_sizes, int width, StepInputs inputs, StepCode code)
      : device_(arguments.device),
        memory_(arguments.spec.memory),
        x_(arguments.spec.inputs[0]),
        op_(std::move(op)),
        from_sizes_(from_sizes),
        width_(width),
        inputs_(std::move(inputs)),
        code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const auto& resize = *op_.as<ops::Resize>();
    const ResizePlan plan = TRY(plan_resize(resize, from_sizes_, shapes.inputs[0], shapes.outputs[0], x_.format));
    std::vector<Kernel> kernels;
    for (ResizeLaunch& launch :
         resize_launches(plan, resize.mode, bits_of(x_.dtype) / 8, width_, device_.properties().num_multiprocessors)) {
      const Function function = TRY(code_.function(launch.entry));
      TRY(function.check(launch.shape));
      kernels.push_back({std::move(launch), function});
    }
    if (plan.planes == 0) return std::make_unique<BoundResize>(inputs_, nullptr, nullptr, std::move(kernels));
    return std::make_unique<BoundResize>(inputs_, TRY(device_.upload(std::as_bytes(std::span(plan.index)), memory_)),
                                         TRY(device_.upload(std::as_bytes(std::span(plan.weight)), memory_)),
                                         std::move(kernels));
  }

 private:
  CudaDevice& device_;
  Allocator* memory_;
  StepTensor x_;
  Op op_;
  bool from_sizes_;
  int width_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_resize(const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  Op op = TRY(op_from_record(TRY(spec.payload.get_record("resize"))));
  TRY(require(op.as<ops::Resize>(), "a resize step runs ", op.name()));
  TRY(element_bytes(spec.inputs[0].dtype));
  TRY(require(spec.outputs[0].dtype == spec.inputs[0].dtype && spec.outputs[0].format == spec.inputs[0].format,
              "a resize from ", spec.inputs[0].dtype, " to ", spec.outputs[0].dtype));
  const int64_t width = TRY(spec.payload.get_int("width"));
  TRY(require(width == 1 || width == 2 || width == 4 || width == 8 || width == 16, "a resize loads ", width,
              " elements at once"));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedResize>(arguments, std::move(op), TRY(spec.payload.get_bool("from_sizes")),
                                        static_cast<int>(width), TRY(StepInputs::upload(arguments)), std::move(code));
}

}  // namespace kiln::cuda
