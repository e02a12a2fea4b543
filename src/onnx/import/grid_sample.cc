#include "ops/grid_sample.h"

#include "onnx/import/compose.h"
#include "onnx/import/importers.h"

namespace kiln::onnx::importers {

/// Imports GridSample. Modes had other names before opset 20.
Status grid_sample(ImportContext& cx) {
  const std::string_view mode = TRY(cx.node().get_string("mode", cx.opset() < 20 ? "bilinear" : "linear")),
                         padding = TRY(cx.node().get_string("padding_mode", "zeros"));
  ops::GridSample op;
  if (mode == "nearest")
    op.mode = ResizeMode::kNearest;
  else if (mode == "bicubic" || mode == "cubic")
    op.mode = ResizeMode::kCubic;
  else
    TRY(require(mode == "bilinear" || mode == "linear", "mode is '", mode, "'; nearest, linear or cubic is needed"));
  if (padding == "border")
    op.outside = SliceMode::kClamp;
  else if (padding == "reflection")
    op.outside = SliceMode::kReflect;
  else
    TRY(require(padding == "zeros", "padding_mode is '", padding, "'; zeros, border or reflection is needed"));
  op.align_corners = TRY(cx.node().get_int("align_corners", 0)) != 0;
  return cx.output(TRY(cx.add(op, {TRY(cx.input(0)), TRY(cx.input(1))})));
}

}  // namespace kiln::onnx::importers
