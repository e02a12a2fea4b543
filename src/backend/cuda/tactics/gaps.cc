/// Ops without a tactic of their own on CUDA, each with the reason. A line goes when the tactic comes.
#include "backend/cuda/tactics/registry.h"
#include "tactics/view.h"

// A line an op:
// clang-format off

namespace kiln {
namespace ops {
struct Constant;
struct Padding;
struct Scale;
struct Shape;
struct Reshape;
struct Squeeze;
struct Unsqueeze;
struct Identity;
struct Shuffle;
}  // namespace ops

namespace cuda {

// A weight of the plan, not a step.
template <> TacticList tactics_of<ops::Constant>() { return {}; }

// Decomposed by a pass before any tactic sees them.
template <> TacticList tactics_of<ops::Padding>() { return {}; }
template <> TacticList tactics_of<ops::Scale>() { return {}; }
template <> TacticList tactics_of<ops::Shuffle>() { return {}; }

// Shape arithmetic: becomes DimValues.
template <> TacticList tactics_of<ops::Shape>() { return {}; }

// Views, which no backend computes.
template <> TacticList tactics_of<ops::Reshape>() { return view_tactics(); }
template <> TacticList tactics_of<ops::Squeeze>() { return view_tactics(); }
template <> TacticList tactics_of<ops::Unsqueeze>() { return view_tactics(); }
template <> TacticList tactics_of<ops::Identity>() { return view_tactics(); }

}  // namespace cuda
}  // namespace kiln
