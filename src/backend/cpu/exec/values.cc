#include "steps/values.h"

#include <cstring>

#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {
namespace {

class BoundValues final : public BoundStep {
 public:
  explicit BoundValues(Bytes bytes) : bytes_(std::move(bytes)) {}
  Status run(const RunArguments& arguments) override {
    if (!bytes_.empty()) std::memcpy(arguments.outputs[0], bytes_.data(), bytes_.size());
    return {};
  }

 private:
  Bytes bytes_;
};

class LoadedValues final : public LoadedStep {
 public:
  explicit LoadedValues(DType dtype) : dtype_(dtype) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<BoundValues>(steps::Values::elements(dtype_, shapes.params));
  }

 private:
  DType dtype_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Values&, const LoadArguments& arguments) {
  return std::make_unique<LoadedValues>(arguments.spec.outputs[0].dtype);
}

}  // namespace kiln::cpu
