#include "runtime/launch.h"

#include <exception>

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
  const plan::Step& step = launch.steps[s];
  std::byte* const workspace = launch.workspace + (launch.branches ? step.stream * launch.workspace_step : 0);
  const RunArguments arguments{pointers, pointers + step.inputs.size(), workspace, &stream};
  if (Status ran = run_step(*launch.bound[s], arguments); !ran) [[unlikely]]
    return error(ran.error().code, "step '", step.name, "': ", ran.error().message);
  return {};
}

}  // namespace kiln::runtime
