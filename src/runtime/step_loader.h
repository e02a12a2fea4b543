/// Steps of a plan, and their alternatives, prepared by the executors of a device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/hash.h"
#include "device/allocator.h"
#include "device/device.h"
#include "plan/plan.h"
#include "runtime/ordered_weights.h"
#include "steps/executor.h"
#include "steps/keeps_state.h"

namespace kiln::runtime {

/// A step's own kernel, or that of one of its alternatives by its index.
inline constexpr int kOwnKernel = -1;

/// The memory, in the context that binds it, of what a step keeps from run to run; null: the step starts anew.
using StateSource = FunctionRef<Result<std::byte*>(const KeepsState&)>;
inline constexpr auto no_state = [](const KeepsState&) -> Result<std::byte*> { return nullptr; };

/// A step, or an alternative of it, as an executor loads it. It borrows the plan's code.
StepSpec spec_of(const plan::Plan& plan, const plan::Block& block, const plan::Step& step, int kernel = kOwnKernel);

/// Extents of the tensors of a block (`only`, by tensor: of those; null: of all), at these values of the plan's
/// symbols.
Result<std::vector<Extents>> tensor_extents(const plan::Block& block, std::span<const int64_t> symbols,
                                            const std::vector<bool>* only = nullptr);

/// A loaded step, or an alternative of it, prepared for tensors of these extents. The error names the step.
Result<std::unique_ptr<BoundStep>> bind(const LoadedStep& loaded, const plan::Step& step, int kernel,
                                        std::span<const Extents> tensor_extents, std::span<const int64_t> symbols,
                                        StateSource states = no_state);

/// Borrows the plan, its weights, the device and the memory.
class StepLoader {
 public:
  /// Weights on a device of its own take their memory from `memory`; null: the device.
  StepLoader(const plan::Plan& plan, const OrderedWeights& weights, Device& device, Allocator* memory)
      : plan_(plan), weights_(weights), device_(device), memory_(memory) {}

  /// The key by which two kernels are the same to `load`: executor, specification, and which weights they get.
  Hash128 key(const plan::Block& block, const plan::Step& step, int kernel) const;
  /// The error names the step.
  Result<std::unique_ptr<const LoadedStep>> load(const plan::Block& block, const plan::Step& step, int kernel) const;
  /// The constants that a step reads.
  std::vector<const HostTensor*> constants(const plan::Block& block, const plan::Step& step) const;

 private:
  const plan::Plan& plan_;
  const OrderedWeights& weights_;
  Device& device_;
  Allocator* memory_;
};

}  // namespace kiln::runtime
