/// An engine: a plan loaded on a device. Immutable, shared by any number of contexts and threads.
#pragma once

#include <memory>
#include <vector>

#include "base/log.h"
#include "device/device.h"
#include "device/executor.h"
#include "plan/plan.h"

namespace kiln::runtime {

class Engine {
 public:
  /// Loads every step; equal steps of several profiles are loaded once. The error names the step that fails.
  static Result<std::shared_ptr<const Engine>> load(std::shared_ptr<const plan::Plan> plan, Device& device, Log& log);

  const plan::Plan& plan() const { return *plan_; }
  Device& device() const { return device_; }
  int num_profiles() const { return static_cast<int>(plan_->profiles.size()); }
  const LoadedStep& step(int profile, int step) const {
    return *steps_[static_cast<size_t>(profile)][static_cast<size_t>(step)];
  }
  /// Memory that a context of this profile needs: tensors, then workspace, each rounded up to 256.
  int64_t memory_bytes(int profile) const;
  int64_t max_memory_bytes() const;
  /// Position in Plan::inputs or Plan::outputs; -1 where there is none of that name.
  int input_named(std::string_view name) const;
  int output_named(std::string_view name) const;

 private:
  Engine(std::shared_ptr<const plan::Plan> plan, Device& device) : plan_(std::move(plan)), device_(device) {}

  std::shared_ptr<const plan::Plan> plan_;
  Device& device_;
  std::vector<std::vector<std::shared_ptr<const LoadedStep>>> steps_;
};

}  // namespace kiln::runtime
