#include "onnx/import/conv.h"

#include "onnx/import/importers.h"
#include "ops/convolution.h"
#include "ops/deconvolution.h"

namespace kiln::onnx::importers {
namespace {

/// x, weights and, if there is one, the bias, which is input `bias`. ONNX has one type for all; the op would take FP32
/// weights of a half x.
Result<Values> operands(ImportContext& cx, size_t bias = 2) {
  Values values{TRY(cx.input(0)), TRY(cx.input(1))};
  const TensorType &x = cx.type(values[0]), &w = cx.type(values[1]);
  TRY(require(x.dtype == w.dtype, "x is ", x, " and w ", w, "; both need one type, insert a Cast"));
  if (cx.has_input(bias)) values.push_back(TRY(cx.input(bias)));
  return values;
}

/// Divides an axis's total padding as auto_pad says: SAME_UPPER puts the odd element behind.
void divide_pads(ops::Deconvolution& op, size_t axis, int64_t total, ops::PaddingMode padding) {
  if (total < 0) {  // y is longer than what x reaches
    op.pre_pads[axis] = 0;
    op.post_pads[axis] = total;
    return;
  }
  op.pre_pads[axis] = padding == ops::PaddingMode::kSameUpper ? total / 2 : total - total / 2;
  op.post_pads[axis] = total - op.pre_pads[axis];
}

/// Pads that make y as long as output_shape says, or x's extent times the stride.
Status pads_from_output(ImportContext& cx, ops::Deconvolution& op, const Ints& output_padding) {
  const ValueId x = cx.inputs()[0], w = cx.inputs()[1];
  Ints wanted = TRY(cx.node().get_ints("output_shape", {}));
  const size_t spatial = op.strides.size();
  if (wanted.size() == spatial + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  TRY(require(wanted.empty() || wanted.size() == spatial, "output_shape is ", wanted, "; x is ", cx.type(x)));
  for (size_t i = 0; i < spatial; ++i) {
    const auto axis = static_cast<int>(i) + 2;
    const auto kernel = cx.extent(w, axis).constant();
    TRY(require(kernel.has_value(), "w is ", cx.type(w), "; the kernel's extents must be constants"));
    // The length that x reaches, minus stride * x's extent. It is an expression because those notice overflows of
    // int64.
    sym::Expr total = op.dilations[i] * (sym::Expr(*kernel) - 1) + 1 + output_padding[i] - op.strides[i];
    if (!wanted.empty()) {
      const auto extent = cx.extent(x, axis).constant();
      if (!extent)
        return error(Code::kUnsupported, "output_shape is given, so that x's spatial extents must be constants; x is ",
                     cx.type(x));
      total += op.strides[i] * sym::Expr(*extent) - wanted[i];
    }
    TRY(require(total.is_valid() && total.value() <= kLargestOfWindow && total.value() >= -kLargestOfWindow, "axis ",
                axis, " of x ", cx.type(x), " would be padded by ", total, " elements"));
    divide_pads(op, i, total.value(), op.padding);
    op.post_pads[i] -= output_padding[i];
  }
  op.padding = ops::PaddingMode::kExplicitRoundDown;
  return {};
}

}  // namespace

Status conv(ImportContext& cx) {
  const Values inputs = TRY(operands(cx));
  WindowAttributes w = TRY(window_attributes(cx, TRY(spatial_axes(cx, inputs[0]))));
  const int64_t groups = TRY(cx.node().get_int("group", 1));
  return cx.output(TRY(cx.add(ops::Convolution{std::move(w.kernel), std::move(w.strides), std::move(w.pre_pads),
                                               std::move(w.post_pads), std::move(w.dilations), groups, w.padding},
                              inputs)));
}

Status conv_transpose(ImportContext& cx) {
  const int spatial = TRY(spatial_axes(cx, TRY(cx.input(0))));
  return conv_transpose_by(cx, TRY(window_attributes(cx, spatial)), 2);
}

Status conv_transpose_by(ImportContext& cx, WindowAttributes w, size_t bias) {
  const Values inputs = TRY(operands(cx, bias));
  const int spatial = static_cast<int>(w.strides.size());
  ops::Deconvolution op{std::move(w.kernel),
                        std::move(w.strides),
                        std::move(w.pre_pads),
                        std::move(w.post_pads),
                        std::move(w.dilations),
                        TRY(cx.node().get_int("group", 1)),
                        w.padding};
  const Ints longer = TRY(cx.node().get_ints("output_padding", Ints(static_cast<size_t>(spatial), 0)));
  TRY(require(static_cast<int>(longer.size()) == spatial, "output_padding is ", longer, "; x is ", cx.type(inputs[0])));
  for (const int64_t each : longer)
    TRY(require(each >= 0 && each <= kLargestOfWindow, "output_padding is ", longer, "; ", each, " is outside [0, ",
                kLargestOfWindow, "]"));
  if (is_same(op.padding) || cx.node().find("output_shape"))
    TRY(pads_from_output(cx, op, longer));
  else
    for (size_t i = 0; i < longer.size(); ++i) op.post_pads[i] -= longer[i];
  return cx.output(TRY(cx.add(std::move(op), inputs)));
}

}  // namespace kiln::onnx::importers
