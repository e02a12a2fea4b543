/// Sees tensors while a context runs.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "plan/plan.h"

namespace kiln {
class Stream;
}

namespace kiln::runtime {

/// A tensor with its elements. All of it is valid during the call that passes it.
struct ObservedValue {
  const plan::Block& block;          ///< a profile or a body
  const plan::Tensor& tensor;        ///< of the block: name, type and format
  void* data;                        ///< in the engine's device's memory; may be null where the tensor is empty
  std::span<const int64_t> extents;  ///< of this run, in the logical order whatever the format
  std::span<const int64_t> symbols;  ///< values of the plan's symbols, with the sizes that the step has decided
};

/// Sees what steps make. A context with an observer that wants something runs its steps one by one: recordings are not
/// used, and each wanted value is complete when the observer is called. Plans, steps and variants stay what they are,
/// so what a step keeps inside is not seen.
class ValueObserver {
 public:
  virtual ~ValueObserver() = default;
  /// Asked once for each output of each step when the observer is set, of all profiles and bodies.
  virtual bool wants(const plan::Step& step, int output) = 0;
  /// Called in `Context::enqueue`, on its thread, when a step has run and before a later one may overwrite the tensor:
  /// in each iteration of a loop, and not for the branch that is not taken. What the observer queues on `stream` is
  /// done before the next step begins. An error ends the run, and `enqueue` returns it. It must not run the context.
  /// Until then the observer may write other elements to the value's `data`, in the tensor's type, format and extents:
  /// nobody else uses that memory, and what reads the tensor later, an output's owner too, finds them. Sizes that the
  /// step has decided stay as they are.
  virtual Status value_made(const plan::Step& step, int output, const ObservedValue& value, Stream& stream) = 0;
  /// Asked once for each profile and body, likewise: whether `block_begins` is worth a call.
  virtual bool wants_beginning([[maybe_unused]] const plan::Block& block) { return false; }
  /// Called before the first step of a block. `inputs` has the addresses of the block's inputs: of Plan::inputs on the
  /// engine's device (shape inputs on the host), or of Body::inputs. `symbols` are as in ObservedValue.
  virtual Status block_begins([[maybe_unused]] const plan::Block& block,
                              [[maybe_unused]] std::span<const void* const> inputs,
                              [[maybe_unused]] std::span<const int64_t> symbols, [[maybe_unused]] Stream& stream) {
    return {};
  }
};

}  // namespace kiln::runtime
