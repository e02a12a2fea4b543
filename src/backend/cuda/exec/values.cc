/// Symbolic values, carried by launches.
#include "steps/values.h"

#include <algorithm>
#include <cstring>

#include "backend/cuda/exec/step.h"
#include "backend/cuda/kernels/fill/arguments.h"

namespace kiln::cuda {
namespace {

class BoundValues final : public BoundStep {
 public:
  BoundValues(const Function& function, std::vector<ValuesArgument> launches)
      : function_(function), launches_(std::move(launches)) {
    shape_.block[0] = 256;
    shape_.pdl = true;
  }
  Status run(const RunArguments& arguments) override {
    auto* y = static_cast<std::byte*>(arguments.outputs[0]);
    for (ValuesArgument& argument : launches_) {
      argument.y = y;
      y += argument.count;
      void* pointers[] = {&argument};
      TRY(launch(*arguments.stream, function_, shape_, pointers));
    }
    return {};
  }

 private:
  const Function& function_;
  std::vector<ValuesArgument> launches_;
  LaunchShape shape_;
};

class LoadedValues final : public LoadedStep {
 public:
  LoadedValues(DType dtype, StepCode code, const Function& function)
      : dtype_(dtype), code_(std::move(code)), function_(function) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const Bytes bytes = steps::Values::elements(dtype_, shapes.params);
    std::vector<ValuesArgument> launches;
    for (size_t at = 0; at < bytes.size(); at += ValuesArgument::kMost) {
      ValuesArgument& argument = launches.emplace_back();
      argument.count = static_cast<uint32_t>(std::min<size_t>(ValuesArgument::kMost, bytes.size() - at));
      std::memcpy(argument.bytes, bytes.data() + at, argument.count);
    }
    return std::make_unique<BoundValues>(function_, std::move(launches));
  }

 private:
  DType dtype_;
  StepCode code_;
  Function function_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Values&, const LoadArguments& arguments) {
  StepCode code = TRY(StepCode::load(arguments));
  const Function function = TRY(code.function("values"));
  return std::make_unique<LoadedValues>(arguments.spec.outputs[0].dtype, std::move(code), function);
}

}  // namespace kiln::cuda
