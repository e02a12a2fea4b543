/// Plugins of the program's, which launch what they like on the stream that they are given, or are kernels.
#include "tactics/plugin.h"

#include "backend/cuda/exec/plugin_kernel.h"
#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

class GpuPluginTactic final : public PluginTactic {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    StepDraft step = cuda_step(TRY(draft(cx, region, variant)));
    if (const auto* kernel = step.step.as<steps::PluginKernel>())
      TRY(in_context(loads(device_of(cx), *kernel, *step.binary, region.inputs.size(), region.outputs.size()),
                     [&] { return str(kernel->plugin); }));
    return step;
  }

 private:
  bool launches_kernels() const override { return true; }
  /// Fails where the driver does not take the code, now and not when a program loads the plan.
  static Status loads(CudaDevice& device, const steps::PluginKernel& kernel, const Bytes& code, size_t num_inputs,
                      size_t num_outputs) {
    const auto module = TRY(device.load(code));
    TRY(num_spare_arguments(TRY(module->function(kernel.entry)), kernel, num_inputs, num_outputs));
    return {};
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Plugin>() {
  return list_of<GpuPluginTactic>();
}

}  // namespace kiln::cuda
