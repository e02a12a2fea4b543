/// How a step of a plan becomes work: an executor loads it once an engine, binds it once a context and set of shapes,
/// and then runs it without allocating.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/record.h"
#include "steps/step.h"
#include "tensor/host_tensor.h"

namespace kiln {

class Allocator;
class Device;
class Stream;

/// A step as an engine loads it.
struct StepSpec : StepTypes {
  AnyStep step;
  Record tuning;                      ///< what its backend chose for it; empty where there is no choice
  std::span<const std::byte> binary;  ///< code for the device; outlives the loaded step. Empty: none
  Allocator* memory = nullptr;        ///< of constants on a device of its own; outlives the step. Null: the device's
};

struct RunArguments {
  const void* const* inputs;  ///< null where absent; constants included
  void* const* outputs;
  std::byte* workspace;  ///< BoundStep::workspace_bytes, aligned to 256
  Stream* stream;        ///< null on a host device, where `run` works on the calling thread
  /// Takes those that the run decides: memory of Device::allocate_pinned, read when the stream is done with the run.
  /// May be null on a device of its own, where nobody reads them.
  int64_t* sizes = nullptr;
};

/// A step for one set of shapes, of one context.
class BoundStep {
 public:
  virtual ~BoundStep() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  /// Allocates nothing. Fails only for what the data decides (an index out of range, a kernel that faults).
  virtual Status run(const RunArguments& arguments) = 0;
  /// Whether `check` is worth a call.
  virtual bool has_check() const { return false; }
  /// Fails where the data of finished runs broke a rule and `run` could not tell: on a device of its own. Told once.
  virtual Status check() { return {}; }
};

class KeepsState;
class PacksConstants;

/// A step with its weights packed; immutable, shared by contexts and profiles.
class LoadedStep {
 public:
  virtual ~LoadedStep() = default;
  /// Fails unless the step takes these shapes (AnyStep::check).
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const;
  /// Bytes that packing added.
  virtual int64_t packed_bytes() const { return 0; }
  /// This step, where its runs depend on those before (keeps_state.h); one that wraps another hands on the other's.
  virtual const KeepsState* keeps_state() const { return nullptr; }
  /// This step, where its runs read copies of constants (packs_constants.h).
  virtual const PacksConstants* packs_constants() const { return nullptr; }

 protected:
  /// Fails (kCorrupt) unless the step takes these shapes.
  Status check(const StepShapes& shapes) const;
  /// `bind`, of shapes that the step takes.
  virtual Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const = 0;

 private:
  friend class Executor;
  AnyStep step_;
  StepTypes types_;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::string_view name() const = 0;
  /// Fails unless the step takes tensors of these types (AnyStep::check).
  /// `constants[i]` is input i where a plan has it, in its format (memory_order.h); it outlives the step. Else null.
  Result<std::unique_ptr<LoadedStep>> load(const StepSpec& spec, std::span<const HostTensor* const> constants);

 protected:
  /// `load`, of a step that takes these types.
  virtual Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                           std::span<const HostTensor* const> constants) = 0;
};

}  // namespace kiln
