/// An engine: a plan loaded on a device. Immutable, shared by any number of contexts and threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "device/allocator.h"
#include "device/device.h"
#include "plan/segments.h"
#include "runtime/branches.h"
#include "runtime/fixed_shapes.h"
#include "runtime/ordered_weights.h"
#include "runtime/packed_weights.h"
#include "runtime/step_loader.h"
#include "runtime/weight_store.h"
#include "steps/executor.h"

namespace kiln::runtime {

/// Sizes of the parts of a context's memory, as their neighbours see them.
constexpr int64_t aligned_bytes(int64_t bytes) { return (bytes + 255) / 256 * 256; }

class Engine {
 public:
  /// Loads every step; equal steps of several profiles are loaded once. The error names the step that fails. Weights on
  /// a device of its own, and contexts, take their memory from `memory`; null: the device.
  static Result<std::shared_ptr<const Engine>> load(std::shared_ptr<const plan::Plan> plan, Device& device, Log& log,
                                                    std::shared_ptr<Allocator> memory = nullptr);

  /// A weight that its steps have packed has no bytes here.
  const plan::Plan& plan() const { return plan_; }
  /// The plan with all its weights, to be written.
  Result<plan::Plan> whole_plan() const { return packed_weights_.unpacked(); }
  /// An engine of the same plan with other weights (weight_store.h), which packs them and brings them to the device as
  /// this one did. This one and its contexts stay as they are.
  Result<std::shared_ptr<const Engine>> with_weights(const NewWeights& weights, Log& log) const;
  Device& device() const { return device_; }
  Result<Buffer> allocate(int64_t size_bytes) const;
  /// Copies the host's bytes to `to`, which is allocated where it is too small: from `memory`, or (null) as `allocate`
  /// does.
  Status upload(std::span<const std::byte> bytes, Buffer& to, Allocator* memory = nullptr) const;
  int num_profiles() const { return static_cast<int>(plan_.profiles.size()); }
  /// The elements of a tensor that is a weight, as memory in the tensor's format has them.
  const HostTensor& weight(const plan::Tensor& tensor) const { return weights_.at(tensor); }
  /// Blocks are numbered: a profile has its index, a body that of `body_block`.
  int body_block(int body) const { return num_profiles() + body; }
  const plan::Block& block(int index) const { return *blocks_[static_cast<size_t>(index)]; }
  /// Extents of the tensors of a block (`only`, by tensor: of those), at these values of the plan's symbols.
  Result<std::vector<Extents>> tensor_extents(int block, std::span<const int64_t> symbols,
                                              const std::vector<bool>* only = nullptr) const;
  /// The tuning of a block that is nearest to these values of the plan's symbols, by their ratios.
  int nearest_tuning(int block, std::span<const int64_t> symbols) const;
  /// A step without bodies, or its alternative for a tuning, prepared for tensors of these extents. The error names
  /// the step.
  Result<std::unique_ptr<BoundStep>> bind_step(int block, int step, int tuning, std::span<const Extents> tensor_extents,
                                               std::span<const int64_t> symbols, StateSource states) const;
  /// A step without bodies as it is loaded, and its alternatives.
  std::span<const std::shared_ptr<const LoadedStep>> kernels(int block, size_t step) const {
    return steps_[static_cast<size_t>(block)][step];
  }
  /// The symbols that a profile leaves no choice of.
  const FixedSymbols& fixed_symbols(int profile) const { return fixed_symbols_[static_cast<size_t>(profile)]; }
  /// Extents, with -1 where a profile leaves a choice, or two profiles differ.
  Extents fixed_extents(std::span<const sym::Program> programs) const;
  /// The parts of a block's steps that are bound one after the other.
  std::span<const plan::Segment> segments(int block) const { return segments_[static_cast<size_t>(block)]; }
  /// The waits of steps on several streams.
  const Branches& branches(int profile) const { return branches_[static_cast<size_t>(profile)]; }
  /// Streams that runs use beside the one they are given, at most.
  int num_aux_streams() const;
  /// Memory that a context of this profile needs: tensors, then a workspace for each stream, each rounded up to 256. By
  /// default the workspace of the profile's maximum.
  int64_t memory_bytes(int profile, std::optional<int64_t> workspace_bytes = {}) const;
  int64_t max_memory_bytes() const;
  /// A position in Plan::inputs or Plan::outputs.
  struct Surface {
    bool is_input;
    int index;
  };
  /// The input or output of that name, found by its hash: programs with thousands of them ask for each, in every run.
  std::optional<Surface> surface_named(std::string_view name) const;

 private:
  using Loaded = std::vector<std::shared_ptr<const LoadedStep>>;  ///< a step, and its alternatives

  Engine(const plan::Plan& plan, Device& device, std::shared_ptr<Allocator> memory);
  /// One kernel of a step, kOwnKernel or an alternative's index, prepared for tensors of these extents.
  Result<std::unique_ptr<BoundStep>> bind_kernel(int block, int step, int kernel,
                                                 std::span<const Extents> tensor_extents,
                                                 std::span<const int64_t> symbols, StateSource states) const;

  plan::Plan plan_;  ///< a copy, which lets go of weights that are packed; it shares those that stay
  Device& device_;
  std::shared_ptr<Allocator> memory_;  ///< null: the device's
  OrderedWeights weights_;
  PackedWeights packed_weights_;
  std::vector<const plan::Block*> blocks_;                 ///< of `plan_`
  std::vector<std::vector<Loaded>> steps_;                 ///< by block; none of a step with bodies
  plan::Segments segments_;                                ///< by block
  std::vector<Branches> branches_;                         ///< by profile
  std::vector<FixedSymbols> fixed_symbols_;                ///< by profile
  std::unordered_map<std::string_view, Surface> surface_;  ///< by names that `plan_` owns
};

}  // namespace kiln::runtime
