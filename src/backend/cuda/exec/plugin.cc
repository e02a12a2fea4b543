#include "steps/loaded_plugin.h"

#include <optional>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/exec/step.h"
#include "backend/cuda/exec/tell_sizes.h"
#include "ops/enqueue_kind.h"

namespace kiln::cuda {
namespace {

class GpuPluginDevice final : public PluginDevice {
 public:
  GpuPluginDevice(CudaDevice& device, StepInputs inputs, const PluginIdentity& plugin)
      : device_(device), inputs_(std::move(inputs)), plugin_(plugin) {}

  const void* input(const RunArguments& run, size_t i) const override { return inputs_.at(i, run); }
  void* stream(const RunArguments& run) const override { return static_cast<CudaStream&>(*run.stream).handle(); }
  /// A recording repeats what the stream was given and nothing else: a plugin that does more, or gives it nothing where
  /// it has something to write, is not recorded.
  Status enqueue(PluginInstance& plugin, const PluginRun& run, const RunArguments& arguments,
                 Writes writes) const override {
    const auto& stream = static_cast<const CudaStream&>(*arguments.stream);
    if (!stream.is_recorded()) {
      const EnqueueScope scope(stream.capturing() ? EnqueueKind::kCapture : EnqueueKind::kRun);
      return plugin.enqueue(run);
    }
    const CurrentContext current(device_);
    const auto before = recorded(stream);
    Status queued;
    {
      const InsideCapture inside(device_.driver());
      const EnqueueScope scope(EnqueueKind::kRecording);
      queued = plugin.enqueue(run);
    }
    const auto after = recorded(stream);
    if (before && !after)
      return error(Code::kDevice, plugin_,
                   ": enqueue did what no recording repeats, as a synchronous copy, an allocation or a wait",
                   queued ? std::string() : "; it failed, too: " + queued.error().message);
    TRY(std::move(queued));
    if (before && *after == *before && writes == Writes::kOutputs)
      return error(Code::kDevice, plugin_, ": enqueue queued nothing on its stream that a recording could repeat");
    return {};
  }
  Status tell_size(const RunArguments& run, size_t k, const void* size, DType dtype) const override {
    return tell_scalar(device_, run, k, size, dtype);
  }

 private:
  /// How many nodes the capture of a stream has; nothing where it is broken.
  std::optional<size_t> recorded(const CudaStream& stream) const {
    int status = kCaptureNone;
    GraphHandle graph = nullptr;
    size_t count = 0;
    const Driver& driver = device_.driver();
    if (driver.stream_get_capture_info(stream.handle(), &status, nullptr, &graph, nullptr, nullptr) != 0 ||
        status != kCaptureActive || driver.graph_get_nodes(graph, nullptr, &count) != 0)
      return std::nullopt;
    return count;
  }

  CudaDevice& device_;
  StepInputs inputs_;
  const PluginIdentity plugin_;
};

}  // namespace

LoadResult load(const steps::Plugin& step, const LoadArguments& arguments) {
  return load_plugin(
      step, arguments.spec,
      std::make_unique<GpuPluginDevice>(arguments.device, TRY(StepInputs::upload(arguments)), step.plugin));
}

}  // namespace kiln::cuda
