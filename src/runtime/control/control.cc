#include "runtime/control/control.h"

#include <cstring>

#include "runtime/control/bound_if.h"
#include "runtime/control/bound_loop.h"
#include "steps/if.h"
#include "steps/loop.h"

namespace kiln::runtime {

Result<std::unique_ptr<BoundStep>> bind_control(const Engine& engine, const plan::Block& block, size_t step,
                                                std::span<const int64_t> symbols, std::span<const Extents> extents,
                                                Runner& runner) {
  const plan::Step& planned = block.steps[step];
  const ControlSpec spec{engine, block, planned, symbols, extents, runner};
  if (const auto* branch = planned.step.as<steps::If>()) return bind_if(*branch, spec);
  if (const auto* loop = planned.step.as<steps::Loop>()) return bind_loop(*loop, spec);
  return error(Code::kCorrupt, "step '", planned.name, "' of kind '", planned.step.name(), "' has bodies");
}

Status read_now(Device& device, void* to, const void* from, int64_t bytes, Stream* stream) {
  if (!stream) return std::memcpy(to, from, static_cast<size_t>(bytes)), Status();
  if (stream->capturing())
    return error(Code::kUnsupported,
                 "the device computes a condition or a count, and the host has to read it while the network runs: a "
                 "capture cannot record that");
  return device.copy_to_host(to, from, bytes, *stream);
}

Result<bool> read_flag(Device& device, const void* from, Stream* stream) {
  uint8_t flag = 0;
  TRY(read_now(device, &flag, from, sizeof flag, stream));
  return flag != 0;
}

Status copy_on(Device& device, void* to, const void* from, int64_t bytes, Stream* stream) {
  if (bytes == 0 || to == from) return {};
  if (!stream) return std::memcpy(to, from, static_cast<size_t>(bytes)), Status();
  return device.copy(to, from, bytes, *stream);
}

int64_t held_by(const ControlSpec& spec, size_t input) {
  const auto id = static_cast<size_t>(spec.step.inputs[input]);
  return size_bytes(spec.block.tensors[id].dtype, volume(spec.extents[id]));
}

int64_t room_of(const ControlSpec& spec, size_t output) {
  const auto id = static_cast<size_t>(spec.step.outputs[output]);
  return size_bytes(spec.block.tensors[id].dtype, volume(spec.extents[id]));
}

}  // namespace kiln::runtime
