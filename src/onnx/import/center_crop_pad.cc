#include "onnx/import/axes.h"
#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// Imports CenterCropPad: a slice that begins inside or before each axis. What is odd goes to the end.
Status center_crop_pad(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const SymbolicValues shape = TRY(cx.values(TRY(cx.input(1)), "shape"));
  Ints axes = TRY(cx.node().get_ints("axes", axes_between(0, cx.rank(x))));
  TRY(require(axes.size() == shape.size(), "axes name ", axes.size(), " axes and shape ", shape.size()));
  SliceAlong along{.starts = {}, .sizes = shape, .strides = {}, .axes = {}, .mode = SliceMode::kFill};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = TRY(cx.axis(axes[i], cx.rank(x)));
    const sym::Expr more = cx.extent(x, axis) - shape[i];
    along.starts.push_back(sym::max(0, sym::floor_div(more, 2)) - sym::max(0, sym::floor_div(-more, 2)));
    along.strides.push_back(1);
    along.axes.push_back(axis);
  }
  return cx.output(TRY(slice(cx, x, along)));
}

}  // namespace kiln::onnx::importers
