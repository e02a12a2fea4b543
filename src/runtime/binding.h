/// A context's steps, prepared for one set of shapes, and where their tensors are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "plan/segments.h"
#include "runtime/growing_memory.h"
#include "runtime/io_addresses.h"
#include "runtime/size_store.h"
#include "steps/executor.h"

namespace kiln::runtime {

/// A pointer of a step's that the program's addresses fill at each enqueue.
struct Patch {
  int slot;             ///< among the pointers of all steps
  int step, step_slot;  ///< whose it is, counted from the segment's first, and that step's first pointer
  int io;               ///< of the network's inputs or outputs
  bool is_input;
  int64_t offset;  ///< bytes behind the program's address
};

/// The pointers that steps are given, one for every tensor of each.
struct StepPointers {
  std::vector<void*> pointers;  ///< inputs then outputs of step 0, of step 1, ...
  std::vector<Patch> patches;   ///< in the order of their steps
  std::byte* workspace = nullptr;

  /// The program's addresses, in the pointers of every step.
  void set(const IoAddresses& addresses) {
    for (const Patch& patch : patches) {
      const auto io = static_cast<size_t>(patch.io);
      void* const base = patch.is_input ? const_cast<void*>(addresses.input(io)) : addresses.output(io);
      pointers[static_cast<size_t>(patch.slot)] = static_cast<std::byte*>(base) + patch.offset;
    }
  }
};

/// What is bound of a segment behind the first: the sizes before it are known by then.
struct LaterSegment {
  std::vector<int64_t> symbols;  ///< that its steps are bound for; empty: it is not bound
  StepPointers at;               ///< of its steps alone
  uint64_t memory_version = 0;   ///< of the growing memory that they point to
};

struct Binding {
  uint64_t id;  ///< no other's of the context, of before or later; not 0
  int profile_index;
  const plan::Profile& profile;
  GrowingMemory growing;
  std::vector<Extents> input_extents;
  std::vector<std::vector<int64_t>> input_values;  ///< of shape inputs
  std::map<int, Buffer> shape_inputs{};            ///< by input: what Runner::shape_input keeps
  std::vector<std::unique_ptr<BoundStep>> steps{};
  std::vector<size_t> checked_steps{};  ///< those with a check
  int64_t workspace_bytes = 0;
  std::byte* memory = nullptr;  ///< of tensors, then workspaces
  int64_t memory_bytes = 0;
  Buffer workspace{};  ///< of steps behind a size that want more than there is behind the tensors; empty: none does
  StepPointers at{};   ///< of the first segment's steps
  std::vector<int64_t> symbols{};  ///< that the first segment's steps are bound for
  std::span<const plan::Segment> segments{};
  std::vector<LaterSegment> later{};
  SizeStore sizes{};

  /// Of a segment's steps.
  StepPointers& pointers_of(size_t segment) { return segment == 0 ? at : later[segment - 1].at; }
  std::span<const int64_t> symbols_of(size_t segment) const {
    return segment == 0 ? symbols : later[segment - 1].symbols;
  }
};

}  // namespace kiln::runtime
