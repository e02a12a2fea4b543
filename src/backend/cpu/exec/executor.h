/// The CPU's executor: finds a step's kernel by name and loads it.
#pragma once

#include <memory>
#include <span>

#include "backend/cpu/device/team.h"
#include "steps/executor.h"
#include "steps/step_tensors.h"

namespace kiln::cpu {

/// What a kernel's loader is given. Constants outlive the step; null where an input is not one.
struct LoadArguments {
  const StepSpec& spec;
  std::span<const HostTensor* const> constants;
  Team& team;
};
using LoadKernel = Result<std::unique_ptr<LoadedStep>> (*)(const LoadArguments&);

/// An entry of the table in executor.cc: a kernel `foo` is `load_foo` in exec/foo.cc. What it says of tensors holds
/// when that is called.
struct KernelEntry {
  std::string_view name;
  LoadKernel load;
  StepTensors tensors;
};
std::span<const KernelEntry> kernel_table();

class CpuExecutor final : public Executor {
 public:
  explicit CpuExecutor(Team& team) : team_(team) {}
  std::string_view name() const override { return "cpu"; }

 protected:
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec, const AnyStep& step,
                                                   std::span<const HostTensor* const> constants) override;

 private:
  Team& team_;
};

}  // namespace kiln::cpu
