#include "runtime/control/control.h"

#include <cstring>

#include "plan/decided_sizes.h"
#include "runtime/control/bound_if.h"
#include "runtime/control/bound_loop.h"
#include "steps/if.h"
#include "steps/loop.h"

namespace kiln::runtime {

Result<std::unique_ptr<BoundStep>> bind_control(const ControlSpec& spec) {
  const AnyStep& step = spec.step.step;
  if (const auto* branch = step.as<steps::If>()) return bind_if(*branch, spec);
  if (const auto* loop = step.as<steps::Loop>()) return bind_loop(*loop, spec);
  return error(Code::kCorrupt, "step '", spec.step.name, "' of kind '", step.name(), "' has bodies");
}

BodyPath body_path(const ControlSpec& spec, size_t index) {
  return path_of_body(spec.around, spec.block, static_cast<size_t>(&spec.step - spec.block.steps.data()), index);
}

bool grows(const ControlSpec& spec, size_t output) {
  const plan::Tensor& tensor = spec.block.tensors[static_cast<size_t>(spec.step.outputs[output])];
  return tensor.place == plan::Place::kGrowing && plan::decides_extent(spec.step, tensor);
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
