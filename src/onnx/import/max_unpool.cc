#include "onnx/import/compose.h"
#include "onnx/import/importers.h"
#include "ops/scatter.h"

namespace kiln::onnx::importers {

/// Imports MaxUnpool: maxima go back to where their indices say, in the tensor that was pooled; zeros elsewhere. A
/// larger output_shape adds zeros behind it.
Status max_unpool(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0)), indices = TRY(cx.input(1));
  const int axes = cx.rank(x) - 2;
  const auto count = static_cast<size_t>(std::max(axes, 0));
  const Ints kernel = TRY(cx.node().get_ints("kernel_shape", {})),
             strides = TRY(cx.node().get_ints("strides", Ints(count, 1))),
             pads = TRY(cx.node().get_ints("pads", Ints(2 * count, 0)));
  TRY(require(axes > 0 && kernel.size() == count && strides.size() == count && pads.size() == 2 * count, "x is ",
              cx.type(x), "; kernel_shape ", kernel, ", strides ", strides, " and pads ", pads,
              " are of other numbers of axes"));
  Shape pooled{cx.extent(x, 0), cx.extent(x, 1)};
  for (size_t i = 0; i < count; ++i)
    pooled.push_back((cx.extent(x, static_cast<int>(i) + 2) - 1) * strides[i] + kernel[i] - pads[i] - pads[count + i]);
  sym::Expr volume = 1;
  for (const sym::Expr& extent : pooled) volume *= extent;
  const ValueId zeros = TRY(expand(cx, scalar_of(cx, 0, cx.dtype(x), 1), {volume}));
  const Shape flat{cx.type(x).volume()};
  const ValueId places = TRY(refuse_negative(cx, TRY(reshape(cx, indices, flat)), volume));
  const ValueId y = TRY(cx.add(ops::Scatter{}, {zeros, places, TRY(reshape(cx, x, flat))}));
  const ValueId unpooled = TRY(reshape(cx, y, pooled));
  if (!cx.has_input(2)) return cx.output(unpooled);
  const SymbolicValues shape = TRY(cx.values(cx.inputs()[2], "output_shape"));
  TRY(require(shape.size() == pooled.size(), "output_shape has ", shape.size(), " numbers; x is ", cx.type(x)));
  if (shape == pooled) return cx.output(unpooled);
  return cx.output(TRY(slice(cx, unpooled,
                             {.starts = SymbolicValues(shape.size(), 0),
                              .sizes = shape,
                              .strides = SymbolicValues(shape.size(), 1),
                              .axes = axes_between(0, cx.rank(x)),
                              .mode = SliceMode::kFill})));
}

}  // namespace kiln::onnx::importers
