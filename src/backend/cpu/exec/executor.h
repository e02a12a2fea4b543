/// The CPU's executor: hands a step to what loads its kind, `load` in exec/<kind>.cc.
#pragma once

#include <memory>
#include <span>

#include "backend/cpu/device/team.h"
#include "steps/executor.h"

namespace kiln::cpu {

/// Arguments of a kernel's loader. Constants outlive the step; null where an input is not one.
struct LoadArguments {
  const StepSpec& spec;
  std::span<const HostTensor* const> constants;
  Team& team;
};

class CpuExecutor final : public Executor {
 public:
  explicit CpuExecutor(Team& team) : team_(team) {}
  std::string_view name() const override { return "cpu"; }

 protected:
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                   std::span<const HostTensor* const> constants) override;

 private:
  Team& team_;
};

}  // namespace kiln::cpu
