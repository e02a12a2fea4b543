#include "steps/hook.h"

namespace kiln::steps {

std::span<const std::string_view> enum_names(HookOperand) {
  static constexpr std::string_view kNames[] = {"whole", "channel", "scalar"};
  return kNames;
}

Hook::~Hook() = default;

Status Hook::check() const {
  TRY(validate(program));
  return require(program.inputs.size() == operands.size() + 1 && program.outputs.size() == 1, "a hook of ",
                 operands.size(), " operands has a program of ", program.inputs.size(), " inputs and ",
                 program.outputs.size(), " outputs");
}

}  // namespace kiln::steps
