/// Steps that run bodies: branches and loops.
#pragma once

#include <memory>
#include <span>

#include "runtime/growing_memory.h"
#include "runtime/runner.h"
#include "runtime/step_states.h"

namespace kiln::runtime {

/// A step with bodies, where it stands, and what it is bound for.
struct ControlSpec {
  const Engine& engine;
  const plan::Block& block;
  const plan::Step& step;
  std::span<const int64_t> symbols;
  std::span<const Extents> extents;  ///< of the block's tensors
  Runner& runner;
  GrowingMemory& growing;  ///< of the block
  StepStates& states;      ///< of the context
  BodyPath around;         ///< the block
};
/// The path of body `index` of the step.
BodyPath body_path(const ControlSpec& spec, size_t index);
/// Whether the step decides an extent of this output and nothing bounds the memory that it takes.
bool grows(const ControlSpec& spec, size_t output);
/// Bytes of an input of the step.
int64_t held_by(const ControlSpec& spec, size_t input);
/// Bytes of an output of the step; the largest possible where its run decides them.
int64_t room_of(const ControlSpec& spec, size_t output);

/// A step with bodies, prepared for these values of the plan's symbols and for its block's tensors of these extents.
/// Its bodies borrow the engine, the runner and the states.
Result<std::unique_ptr<BoundStep>> bind_control(const ControlSpec& spec);

/// Reads a few bytes of the device's memory, for which it waits. Fails where `stream` records: nothing can be read
/// then.
Status read_now(Device& device, void* to, const void* from, int64_t bytes, Stream* stream);
/// Reads a boolean: any byte but 0 is true.
Result<bool> read_flag(Device& device, const void* from, Stream* stream);
/// Copies within the device's memory, in the stream's order.
Status copy_on(Device& device, void* to, const void* from, int64_t bytes, Stream* stream);

}  // namespace kiln::runtime
