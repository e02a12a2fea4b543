#include "steps/nest.h"

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/nest/nest.h"

namespace kiln::cuda {
namespace {

struct Kernel {
  NestVariant variant;
  Function function;
};

class BoundNest final : public BoundStep {
 public:
  BoundNest(const StepInputs& inputs, std::span<const int> element_bytes)
      : inputs_(inputs), element_bytes_(element_bytes), tensors_(element_bytes.size()) {}
  void add(const Kernel& kernel, NestLaunch launch) { ways_.push_back({&kernel.function, std::move(launch)}); }
  bool empty() const { return ways_.empty(); }

  Status run(const RunArguments& arguments) override {
    const size_t num_inputs = inputs_.size();
    for (size_t i = 0; i < tensors_.size(); ++i)
      tensors_[i] = i < num_inputs ? inputs_.at(i, arguments) : arguments.outputs[i - num_inputs];
    for (Way& way : ways_)
      if (way.launch.takes(tensors_.data(), element_bytes_))
        return way.launch.run(*arguments.stream, *way.function, tensors_.data());
    return error(Code::kInternal, "no kernel of the nest takes these addresses: they are not aligned");
  }

 private:
  struct Way {
    const Function* function;
    NestLaunch launch;
  };
  const StepInputs& inputs_;
  const std::span<const int> element_bytes_;
  std::vector<Way> ways_;
  std::vector<const void*> tensors_;
};

class LoadedNest final : public LoadedStep {
 public:
  LoadedNest(const LoadArguments& arguments, StepInputs inputs, StepCode code, std::vector<Kernel> kernels)
      : spec_(arguments.spec),
        num_sms_(arguments.device.properties().num_multiprocessors),
        inputs_(std::move(inputs)),
        code_(std::move(code)),
        kernels_(std::move(kernels)) {
    for (const StepTensor& tensor : spec_.inputs) element_bytes_.push_back(bits_of(tensor.dtype) / 8);
    for (const StepTensor& tensor : spec_.outputs) element_bytes_.push_back(bits_of(tensor.dtype) / 8);
  }

  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    std::vector<NestTensor> tensors;
    for (size_t i = 0; i < spec_.inputs.size(); ++i) tensors.push_back({spec_.inputs[i].format, shapes.inputs[i]});
    for (size_t i = 0; i < spec_.outputs.size(); ++i) tensors.push_back({spec_.outputs[i].format, shapes.outputs[i]});
    const MergedAxes axes = TRY(nest_axes(tensors, spec_.inputs.size()));
    auto bound = std::make_unique<BoundNest>(inputs_, element_bytes_);
    for (const Kernel& kernel : kernels_) {
      if (!suits(kernel.variant, axes)) continue;
      NestLaunch launch(kernel.variant, axes, num_sms_);
      TRY(kernel.function.check(launch.shape()));
      bound->add(kernel, std::move(launch));
    }
    TRY(require(!bound->empty(), "no kernel of the nest makes ", shapes.outputs[0],
                "; build the plan with these extents"));
    return bound;
  }

 private:
  StepSpec spec_;
  int num_sms_;
  StepInputs inputs_;
  StepCode code_;
  std::vector<Kernel> kernels_;
  std::vector<int> element_bytes_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Nest&, const LoadArguments& arguments) {
  NestTuning tuning = TRY(from_record<NestTuning>(arguments.spec.tuning));
  StepCode code = TRY(StepCode::load(arguments));
  const size_t num_tensors = arguments.spec.inputs.size() + arguments.spec.outputs.size();
  std::vector<Kernel> kernels;
  for (NestVariant& variant : tuning.variants) {
    TRY(require(variant.lies.size() == num_tensors, "a kernel of the nest takes ", variant.lies.size(),
                " tensors; the step has ", num_tensors));
    kernels.push_back({std::move(variant), TRY(code.function(nest_entry(kernels.size())))});
  }
  return std::make_unique<LoadedNest>(arguments, TRY(StepInputs::upload(arguments)), std::move(code),
                                      std::move(kernels));
}

}  // namespace kiln::cuda
