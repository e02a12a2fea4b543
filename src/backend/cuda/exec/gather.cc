#include "steps/gather.h"

#include "backend/cuda/exec/index_fault.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/gather/gather.h"
#include "backend/cuda/kernels/lanes/tile.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  GatherLaunch launch;
  Function function;
};

class BoundGather final : public BoundStep {
 public:
  BoundGather(const StepInputs& inputs, std::vector<Kernel> kernels, IndexFault fault)
      : inputs_(inputs), kernels_(std::move(kernels)), fault_(std::move(fault)) {}
  Status run(const RunArguments& arguments) override {
    const void* data = inputs_.at(0, arguments);
    void* y = arguments.outputs[0];
    size_t i = 0;
    const auto fits = [&](int bytes) { return is_aligned(data, bytes) && is_aligned(y, bytes); };
    while (i + 1 < kernels_.size() && !fits(kernels_[i].launch.unit_bytes)) ++i;
    GatherArgument& argument = kernels_[i].launch.argument;
    argument.data = data;
    argument.indices = inputs_.at(1, arguments);
    argument.y = y;
    int64_t* fault = fault_.address();
    void* pointers[] = {&argument, &fault, nullptr};
    return launch(*arguments.stream, kernels_[i].function, kernels_[i].launch.shape, pointers);
  }
  bool has_check() const override { return true; }
  Status check() override { return fault_.check(); }

 private:
  const StepInputs& inputs_;
  std::vector<Kernel> kernels_;  ///< the widest units first; the last one takes any address
  IndexFault fault_;
};

class LoadedGather final : public LoadedStep {
 public:
  LoadedGather(const ops::Gather& op, CudaDevice& device, int element_bytes, StepInputs inputs, StepCode code)
      : device_(device), op_(op), element_bytes_(element_bytes), inputs_(std::move(inputs)), code_(std::move(code)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    std::vector<Kernel> kernels;
    for (int most = 16; most >= element_bytes_; most /= 2) {
      GatherLaunch launch = TRY(gather_launch(op_, element_bytes_, most, shapes.inputs[0], shapes.inputs[1]));
      if (launch.unit_bytes != most) continue;
      const auto function = code_.function(gather_entry(most));
      if (!function) continue;
      TRY(function->check(launch.shape));
      kernels.push_back({std::move(launch), *function});
    }
    TRY(require(!kernels.empty() && kernels.back().launch.unit_bytes == element_bytes_,
                "a gather's code has no kernel for elements of ", element_bytes_, " bytes"));
    return std::make_unique<BoundGather>(
        inputs_, std::move(kernels), TRY(IndexFault::create(device_, shapes.inputs[0], "what it picked are zeros")));
  }

 private:
  CudaDevice& device_;
  ops::Gather op_;
  int element_bytes_;
  StepInputs inputs_;
  StepCode code_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Gather& step, const LoadArguments& arguments) {
  const int bytes = TRY(element_bytes(arguments.spec.inputs[0].dtype));
  StepCode code = TRY(StepCode::load(arguments));
  return std::make_unique<LoadedGather>(step.op, arguments.device, bytes, TRY(StepInputs::upload(arguments)),
                                        std::move(code));
}

}  // namespace kiln::cuda
