/// Convolutions by cuDNN, channels last; w is a constant.
#include "backend/cuda/exec/cudnn_step.h"

#include <cstring>
#include <optional>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/convolution.h"
#include "backend/cuda/exec/cudnn_on_device.h"
#include "backend/cuda/exec/library_inputs.h"
#include "steps/step_tensors.h"

namespace kiln::cuda {
namespace {

class BoundCudnn final : public BoundStep {
 public:
  BoundCudnn(CudnnOnDevice& cudnn, const StepInputs& inputs, std::shared_ptr<const CudnnPlan> plan,
             const CudnnConvolutionSpec& spec)
      : cudnn_(cudnn), inputs_(inputs), plan_(std::move(plan)) {
    ids_ = {kCudnnX, kCudnnW, kCudnnY};
    if (spec.bias) ids_.push_back(kCudnnBias);
    if (spec.residual) ids_.push_back(kCudnnResidual);
    pointers_.resize(ids_.size());
  }

  int64_t workspace_bytes() const override { return plan_->workspace_bytes; }

  Status run(const RunArguments& run) override {
    TRY(require_aligned(run, inputs_.size(), kLibraryAlignment));
    const CurrentContext current(cudnn_.device());
    const OutsideCaptures outside(cudnn_.device().driver());
    if (!pack_ || moved(run)) TRY(pack(run));
    return cudnn_.execute(*plan_, *pack_, static_cast<const CudaStream&>(*run.stream).handle());
  }

 private:
  const void* address(int64_t id, const RunArguments& run) const {
    switch (id) {
      case kCudnnX: return inputs_.at(0, run);
      case kCudnnW: return inputs_.at(1, run);
      case kCudnnBias: return inputs_.at(2, run);
      case kCudnnResidual: return inputs_.at(3, run);
      default: return run.outputs[0];
    }
  }
  bool moved(const RunArguments& run) const {
    bool same = workspace_ == run.workspace;
    for (size_t i = 0; i < ids_.size(); ++i) same &= pointers_[i] == address(ids_[i], run);
    return !same;
  }
  /// Makes the library's list of addresses anew, which allocates inside the library; called only if an address changed.
  Status pack(const RunArguments& run) {
    pack_.reset();
    for (size_t i = 0; i < ids_.size(); ++i) pointers_[i] = address(ids_[i], run);
    workspace_ = run.workspace;
    CudnnObject made = TRY(CudnnObject::make(cudnn_.library(), kCudnnVariantPack));
    TRY(made.set(kPackIds, kCudnnInt64, std::ssize(ids_), ids_.data()));
    TRY(made.set(kPackPointers, kCudnnPointer, std::ssize(pointers_), pointers_.data()));
    TRY(made.set(kPackWorkspace, kCudnnPointer, workspace_));
    TRY(made.finalize());
    pack_.emplace(std::move(made));
    return {};
  }

  CudnnOnDevice& cudnn_;
  const StepInputs& inputs_;
  std::shared_ptr<const CudnnPlan> plan_;
  std::vector<int64_t> ids_;
  std::vector<const void*> pointers_;
  const std::byte* workspace_ = nullptr;
  std::optional<CudnnObject> pack_;
};

Result<std::shared_ptr<const CudnnPlan>> plan_for(CudnnOnDevice& cudnn, const std::optional<CudnnChoice>& chosen,
                                                  const CudnnConvolutionSpec& spec) {
  std::string reasons;
  if (chosen) {
    auto plan = cudnn.plan(spec, *chosen);
    if (plan) return plan;
    reasons = plan.error().message;
  }
  for (const CudnnChoice& choice : TRY(cudnn.choices(spec))) {
    auto plan = cudnn.plan(spec, choice);
    if (plan) return plan;
    if (reasons.empty()) reasons = plan.error().message;
  }
  return error(Code::kUnsupported, "cuDNN ", version_text(cudnn.library()), " has no engine for a convolution of ",
               spec.x, " by ", spec.w, " in ", spec.types.a, " (", reasons,
               "); build the engine without it (setTacticSources)");
}

/// [out][in][taps...] as [out][taps...][in].
Bytes channels_last(const HostTensor& w) {
  const Extents& e = w.extents();
  const auto out = static_cast<size_t>(e[0]), in = static_cast<size_t>(e[1]);
  const auto taps = static_cast<size_t>(volume(std::span(e).subspan(2)));
  const auto size = static_cast<size_t>(bits_of(w.dtype()) / 8);
  Bytes result(w.bytes().size());
  const std::byte* from = w.bytes().data();
  for (size_t o = 0; o < out; ++o)
    for (size_t i = 0; i < in; ++i)
      for (size_t t = 0; t < taps; ++t, from += size)
        std::memcpy(result.data() + ((o * taps + t) * in + i) * size, from, size);
  return result;
}

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_by_cudnn(const steps::Convolution& step, const CudnnTuning& tuning,
                                                  const LoadArguments& arguments) {
  const StepSpec& spec = arguments.spec;
  CudnnOnDevice& cudnn =
      TRY(in_context(arguments.device.companion<CudnnOnDevice>(), [] { return "the plan needs cuDNN"; }));
  TRY(check_library(spec, step.epilogue));
  TRY(require(arguments.constants[1] != nullptr, "a convolution by cuDNN needs a constant w"));
  const HostTensor& w = *arguments.constants[1];
  TRY(require(w.rank() == spec.inputs[0].rank && w.extents()[1] > 0, "a convolution by cuDNN has weights ",
              w.extents()));
  std::optional<CudnnChoice> choice;
  if (tuning.version == cudnn.library().version) choice = tuning.choice;
  StepInputs inputs(arguments);
  TRY(inputs.put(1, arguments, channels_last(w)));
  TRY(put_library_bias(arguments, inputs));
  TRY(inputs.upload_rest(arguments));
  const int64_t packed_bytes = inputs.packed_bytes();
  auto bind = [&cudnn, whole = cudnn_convolution(ContractionTypes::of(spec), step.epilogue, tuning.tf32),
               window = step.window, choice = std::move(choice), packed_extents = w.extents(),
               inputs = std::move(inputs)](const StepShapes& shapes) -> BindResult {
    const Extents &x = shapes.inputs[0], &w = shapes.inputs[1], &y = shapes.outputs[0];
    TRY(require_extents(w, packed_extents, "a convolution's weights"));
    if (volume(y) == 0) return bound_step([](const RunArguments&) {});
    const CudnnConvolutionSpec spec = with_extents(whole, window, x, w, y);
    return std::make_unique<BoundCudnn>(cudnn, inputs, TRY(plan_for(cudnn, choice, spec)), spec);
  };
  return loaded_step(std::move(bind), packed_bytes);
}

}  // namespace kiln::cuda
