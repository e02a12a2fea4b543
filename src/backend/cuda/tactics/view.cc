// Views, which no backend computes.
#include "tactics/view.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln {
namespace ops {
struct Reshape;
struct Squeeze;
struct Unsqueeze;
struct Identity;
}  // namespace ops

namespace cuda {
namespace {
const Tactic* const kViews[] = {&view_tactic()};
}
template <>
TacticList tactics_of<ops::Reshape>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Squeeze>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Unsqueeze>() {
  return kViews;
}
template <>
TacticList tactics_of<ops::Identity>() {
  return kViews;
}

}  // namespace cuda
}  // namespace kiln
