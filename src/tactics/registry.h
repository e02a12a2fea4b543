/// Tactics by op: what the registries of backends share. An op of ops.def that no concept here names needs a list of
/// each backend's (an empty one in its registry.cc where the other is ahead), or the program fails to link.
#pragma once

#include <concepts>

#include "ops/op.h"
#include "tactics/tactic_list.h"
#include "tactics/view.h"

namespace kiln {
namespace ops {
#define OP(name) struct name;
#include "ops/ops.def"
#undef OP
}  // namespace ops

template <class T, class... Ts>
concept OneOf = (std::same_as<T, Ts> || ...);

/// Ops that are no step (a weight of the plan, what a pass decomposes before any tactic sees it, and arithmetic of
/// shapes, which becomes DimValues), those with bodies, which the cover takes itself (control.h), the boundaries that
/// become such, and those that only the reference runs: assertions on data, and those that have no tactic yet.
template <class T>
concept WithoutTactics =
    OneOf<T, ops::Assertion, ops::Attention, ops::AttentionOutput, ops::Constant, ops::DistCollective,
          ops::DynamicQuantize, ops::Einsum, ops::If, ops::IfCondition, ops::IfInput, ops::IfOutput, ops::KvCacheUpdate,
          ops::Loop, ops::LoopIterator, ops::LoopOutput, ops::LoopRecurrence, ops::LoopTripLimit, ops::Lrn, ops::Moe,
          ops::OneHot, ops::Padding, ops::ParametricRelu, ops::RaggedSoftmax, ops::ReverseSequence,
          ops::RotaryEmbedding, ops::RunTimeAssertion, ops::Scale, ops::Shuffle, ops::Shape>;

/// Ops that no backend computes.
template <class T>
concept LooksOnly = OneOf<T, ops::BitCast, ops::Identity, ops::Reshape, ops::Squeeze, ops::Unsqueeze>;

/// Ops with which regions end that begin otherwise: what follows a contraction, or a nest. They have one list, but for
/// Quantize, which may have more.
template <class T>
concept Pointwise = OneOf<T, ops::Activation, ops::Cast, ops::Dequantize, ops::ElementWise, ops::Select, ops::Unary>;
struct AnyPointwise;

/// The list of an op; `own` has a backend's own as a template of T, an op or AnyPointwise.
template <class Own>
TacticList list_by_op(const OpInfo& op, Own own) {
  const auto list = [&]<class T>() -> TacticList {
    if constexpr (WithoutTactics<T>)
      return {};
    else if constexpr (LooksOnly<T>)
      return view_tactics();
    else if constexpr (Pointwise<T>)
      return own.template operator()<AnyPointwise>();
    else
      return own.template operator()<T>();
  };
#define OP(name) \
  if (&op == &op_info<ops::name>()) return list.template operator()<ops::name>();
#include "ops/ops.def"
#undef OP
  return {};
}

}  // namespace kiln
