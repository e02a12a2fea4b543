#include "steps/values.h"

#include <cstring>

#include "backend/cpu/exec/executor.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

class BoundValues final : public BoundStep {
 public:
  explicit BoundValues(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  Status run(const RunArguments& arguments) override {
    if (!bytes_.empty()) std::memcpy(arguments.outputs[0], bytes_.data(), bytes_.size());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

class LoadedValues final : public LoadedStep {
 public:
  explicit LoadedValues(DType dtype) : dtype_(dtype) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    const auto count = static_cast<int64_t>(shapes.params.size());
    std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype_, count)));
    for (int64_t i = 0; i < count; ++i) store_integer(dtype_, bytes.data(), i, shapes.params[static_cast<size_t>(i)]);
    return std::make_unique<BoundValues>(std::move(bytes));
  }

 private:
  DType dtype_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load(const steps::Values&, const LoadArguments& arguments) {
  return std::make_unique<LoadedValues>(arguments.spec.outputs[0].dtype);
}

}  // namespace kiln::cpu
