#include "runtime/launch.h"

#include <exception>

#include "runtime/engine.h"

namespace kiln::runtime {

Status run_step(BoundStep& step, const RunArguments& arguments) {
  try {
    return step.run(arguments);
  } catch (const CheckFailed& failed) {
    return error(Code::kInternal, failed.message);
  } catch (const std::exception& other) {
    return error(Code::kInternal, "unexpected exception: ", other.what());
  }
}

Status launch_step(const Launch& launch, size_t s, void* const* pointers, Stream& stream) {
  const plan::Step& step = launch.steps()[s];
  const size_t index = launch.first_step() + s;
  const Binding& binding = launch.binding;
  const int stream_index = launch.has_branches() ? step.stream : 0;
  std::byte* const workspace = launch.at().workspace + stream_index * aligned_bytes(binding.workspace_bytes);
  const RunArguments arguments{pointers, pointers + step.inputs.size(), workspace, &stream,
                               binding.sizes.of_step(index)};
  const StepRange range(step, launch.ranges);
  if (Status ran = run_step(*binding.steps[index], arguments); !ran) [[unlikely]]
    return error(ran.error().code, "step '", step.name, "': ", ran.error().message);
  return {};
}

}  // namespace kiln::runtime
