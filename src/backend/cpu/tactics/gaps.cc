/// Ops without a tactic of their own on the CPU, each with the reason.
#include "backend/cpu/tactics/registry.h"
#include "ops/constant.h"
#include "ops/softmax.h"

namespace kiln::cpu {

template <>
TacticList tactics_of<ops::Constant>() {  // a weight of the plan, not a step
  return {};
}
template <>
TacticList tactics_of<ops::Softmax>() {  // its kernel is not written yet
  return {};
}

}  // namespace kiln::cpu
