#include "ops/reshape.h"

#include "onnx/import/axes.h"
#include "onnx/import/importers.h"
#include "ops/squeeze.h"

namespace kiln::onnx::importers {

Status reshape(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const SymbolicValues dims = TRY(cx.values(TRY(cx.input(1)), "shape"));
  const bool zero_copies = TRY(cx.node().get_int("allowzero", 0)) == 0;
  if (const auto constants = all_constant(dims))
    return cx.output(TRY(cx.add(ops::Reshape{*constants, zero_copies}, {x})));
  return cx.output(TRY(cx.add(ops::Reshape{{}, zero_copies}, {x, TRY(dims_value(cx, dims))})));
}

Status flatten(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int64_t rank = cx.rank(x), given = TRY(cx.node().get_int("axis", 1));
  TRY(require(given >= -rank && given <= rank, "axis ", given, " is outside [", -rank, ", ", rank, "] of x ",
              cx.type(x)));
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  const std::span<const sym::Expr> shape = cx.type(x).shape;
  return cx.output(TRY(reshape(cx, x, {sym::product(shape.first(axis)), sym::product(shape.subspan(axis))})));
}

Status squeeze(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  const int rank = cx.rank(x);
  const std::optional<Axes> axes = TRY(axes_of(cx, 1, 13, rank));
  if (!axes) return cx.output(TRY(cx.add(ops::Squeeze{}, {x})));
  if (axes->given.empty()) return cx.output(x);
  if (axes->known) return cx.output(TRY(cx.add(ops::Squeeze{{axes->known->begin(), axes->known->end()}}, {x})));
  const int kept = rank - static_cast<int>(axes->given.size());
  TRY(require(kept >= 0, "there are ", axes->given.size(), " axes; x is ", cx.type(x)));
  Shape shape(static_cast<size_t>(kept), 0);
  sym::Expr place = 0;  // of the axis in y, if it stays
  for (int i = 0; i < rank; ++i) {
    const sym::Expr stays = 1 - axes->contains(i);
    for (int k = 0; k < kept; ++k) shape[static_cast<size_t>(k)] += cx.extent(x, i) * stays * sym::equal(place, k);
    place += stays;
  }
  return cx.output(TRY(reshape(cx, x, shape)));
}

Status unsqueeze(ImportContext& cx) {
  const ValueId x = TRY(cx.input(0));
  SymbolicValues given;
  if (cx.opset() >= 13) {
    given = TRY(cx.values(TRY(cx.input(1)), "axes"));
  } else {
    const Ints axes = TRY(cx.node().need_ints("axes"));
    given.assign(axes.begin(), axes.end());
  }
  const int rank = cx.rank(x) + static_cast<int>(given.size());
  const Axes axes = TRY(make_axes(given, rank));
  if (given.empty()) return cx.output(x);
  if (axes.known) return cx.output(TRY(unsqueeze(cx, x, {axes.known->begin(), axes.known->end()})));
  Shape shape;
  sym::Expr place = 0;  // of x's axis that comes next
  for (int i = 0; i < rank; ++i) {
    const sym::Expr added = axes.contains(i);
    const sym::Expr own_axis = sym::equal(added, 0);
    sym::Expr own = 0;
    for (int k = 0; k < cx.rank(x); ++k) own = sym::max(own, cx.extent(x, k) * sym::equal(place, k));
    shape.push_back(sym::max(added, own_axis * own));
    place += own_axis;
  }
  return cx.output(TRY(reshape(cx, x, shape)));
}

}  // namespace kiln::onnx::importers
