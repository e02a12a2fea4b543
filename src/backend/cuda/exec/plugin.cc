#include "steps/loaded_plugin.h"

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/step.h"

namespace kiln::cuda {
namespace {

class GpuSurface final : public PluginSurface {
 public:
  GpuSurface(CudaDevice& device, StepInputs inputs) : device_(device), inputs_(std::move(inputs)) {}

  const void* input(const RunArguments& run, size_t i) const override { return inputs_.at(i, run); }
  void* stream(const RunArguments& run) const override { return static_cast<CudaStream&>(*run.stream).handle(); }
  Status tell_size(const RunArguments& run, size_t k, const void* size, DType dtype) const override {
    if (!run.sizes) return {};
    // Of an i32 the upper half stays what it is from the start, zero: sizes are not negative.
    const size_t bytes = dtype == DType::kI64 ? sizeof(int64_t) : sizeof(int32_t);
    const CurrentContext current(device_);
    return device_.driver().check(
        device_.driver().memcpy_dtoh_async(run.sizes + k, reinterpret_cast<DevicePointer>(size), bytes,
                                           static_cast<CudaStream&>(*run.stream).handle()),
        "copying sizes from the GPU");
  }

 private:
  CudaDevice& device_;
  StepInputs inputs_;
};

}  // namespace

LoadResult load(const steps::Plugin& step, const LoadArguments& arguments) {
  return load_plugin(step, arguments.spec,
                     std::make_unique<GpuSurface>(arguments.device, TRY(StepInputs::upload(arguments))));
}

}  // namespace kiln::cuda
