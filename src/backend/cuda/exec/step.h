/// The common part of loaded steps: their constants and kernels on the device.
#pragma once

#include <memory>
#include <vector>

#include "backend/cuda/exec/executor.h"
#include "steps/lane_extents.h"

namespace kiln::cuda {

/// A step's inputs at run: constants that it uploaded, and what it is given.
class StepInputs {
 public:
  /// Uploads the constants as they are.
  static Result<StepInputs> upload(const LoadArguments& arguments);
  size_t size() const { return constants_.size(); }
  bool is_constant(size_t i) const { return constants_[i] != nullptr; }
  /// Input i on the device; null where it is absent.
  const void* at(size_t i, const RunArguments& arguments) const {
    return constants_[i] ? constants_[i]->data() : arguments.inputs[i];
  }

 private:
  std::vector<std::shared_ptr<const Buffer>> constants_;
};

class StepCode {
 public:
  /// Fails where the plan holds none.
  static Result<StepCode> load(const LoadArguments& arguments);
  Result<Function> function(const std::string& entry) const { return module_->function(entry); }
  const Module& module() const { return *module_; }
  std::shared_ptr<const Module> shared() const { return module_; }

 private:
  std::shared_ptr<const Module> module_;
};

/// Fails where the step is given an address that is not aligned to `bytes`, which its kernel loads or stores at once
/// and has no other kernel for: it would fault, and break the device's context for the whole process.
Status require_aligned(const RunArguments& run, size_t num_inputs, int64_t bytes);

}  // namespace kiln::cuda
