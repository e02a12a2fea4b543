#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/concatenation.h"
#include "ops/convolution.h"

namespace kiln::onnx::importers {

/// Imports CausalConvWithState: a depthwise convolution of what the state has kept, or zeros, with x behind it.
Status causal_conv_with_state(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), w = TRY(cx.input(1));
  TRY(require(cx.rank(x) == 3 && cx.rank(w) == 3, "x is ", cx.type(x), " and w ", cx.type(w),
              "; [batch, channels, length] and [channels, 1, kernel] are needed"));
  const auto channels = cx.extent(w, 0).constant(), kernel = cx.extent(w, 2).constant();
  TRY(require(channels && kernel && *channels > 0 && *kernel > 0, "w is ", cx.type(w),
              "; constant extents are needed"));
  const std::string_view name = TRY(cx.node().get_string("activation", "none"));
  const bool is_swish = name == "silu" || name == "swish";
  TRY(require(is_swish || name == "none", "activation is '", name, "'; silu, swish or none is needed"));
  const int64_t kept = *kernel - 1;
  ValueId state = cx.optional_input(3);
  if (state == ValueId::kNone)
    state = TRY(expand(cx, scalar_of(cx, 0, cx.dtype(x), 3), {cx.extent(x, 0), cx.extent(x, 1), kept}));
  const ValueId all = TRY(cx.add(ops::Concatenation{2}, {state, x}));
  TRY(cx.output(1, TRY(slice(cx, all, {{cx.extent(all, 2) - kept}, {kept}, {1}, {2}}))));
  Values inputs{all, w};
  if (cx.has_input(2)) inputs.push_back(TRY(cx.input(2)));
  ops::Convolution op;
  op.strides = op.dilations = {1};
  op.pre_pads = op.post_pads = {0};
  op.groups = *channels;
  const ValueId y = TRY(cx.add(std::move(op), inputs));
  return cx.output(is_swish ? TRY(onnx::swish(cx, y)) : y);
}

}  // namespace kiln::onnx::importers
