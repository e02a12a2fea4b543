/// The common part of loaded steps: their constants and kernels on the device.
#pragma once

#include <memory>
#include <vector>

#include "backend/cuda/exec/executor.h"
#include "steps/by_function.h"
#include "steps/lane_extents.h"

namespace kiln::cuda {

/// A step's inputs as its kernels see them: those of a run, and constants that its load put on the device.
class StepInputs {
 public:
  explicit StepInputs(const LoadArguments& arguments) : constants_(arguments.spec.inputs.size()) {}
  /// Uploads the constants as they are.
  static Result<StepInputs> upload(const LoadArguments& arguments);

  /// Sets an input in another form than its constant has.
  Status put(size_t input, const LoadArguments& arguments, std::span<const std::byte> bytes);
  /// Uploads the constants as they are, except those that `put` has set.
  Status upload_rest(const LoadArguments& arguments);

  size_t size() const { return constants_.size(); }
  bool is_constant(size_t i) const { return constants_[i] != nullptr; }
  /// Input i on the device; null where it is absent.
  const void* at(size_t i, const RunArguments& arguments) const {
    return constants_[i] ? constants_[i]->data() : arguments.inputs[i];
  }
  int64_t packed_bytes() const { return packed_bytes_; }

 private:
  std::vector<std::shared_ptr<const Buffer>> constants_;
  int64_t packed_bytes_ = 0;
};

/// A launch, and the function that it launches.
template <class Launch>
struct Kernel {
  Launch launch;
  Function function;
};
/// The first kernel whose launch `fits`, else the last, which takes any address.
template <class Each, class Fits>
Each& first_that(std::vector<Each>& kernels, const Fits& fits) {
  size_t i = 0;
  while (i + 1 < kernels.size() && !fits(kernels[i].launch)) ++i;
  return kernels[i];
}

class StepCode {
 public:
  /// Fails where the plan holds none.
  static Result<StepCode> load(const LoadArguments& arguments);
  Result<Function> function(const std::string& entry) const { return module_->function(entry); }
  /// The function of a launch's entry. Fails where the device does not launch it so.
  template <class Launch>
  Result<Kernel<Launch>> kernel(Launch launch) const {
    const Function function = TRY(module_->function(launch.entry));
    TRY(function.check(launch.shape));
    return Kernel<Launch>{std::move(launch), function};
  }
  const Module& module() const { return *module_; }
  std::shared_ptr<const Module> shared() const { return module_; }

 private:
  std::shared_ptr<const Module> module_;
};

/// Fails where the step is given an address that is not aligned to `bytes`, which its kernel loads or stores at once
/// and has no other kernel for: it would fault, and break the device's context for the whole process.
Status require_aligned(const RunArguments& run, size_t num_inputs, int64_t bytes);

}  // namespace kiln::cuda
