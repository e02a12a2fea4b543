#include "passes/gather_to_slice.h"

#include "ops/gather.h"
#include "ops/slice.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

struct Range {
  int64_t start, size, stride;
};

/// The constant indices as a range within `extent`, negative ones counted from the back.
std::optional<Range> range_of(const HostTensor& indices, sym::Expr extent) {
  if (indices.volume() == 0 || indices.volume() > 4096) return std::nullopt;
  std::vector<int64_t> at = View(indices).integers();
  for (int64_t& i : at) {
    if (i < 0 && extent.is_const()) i += extent.value();
    // Outside: the Gather's own error at run time. Behind an unknown extent, likewise.
    if (i < 0 || i >= extent.min()) return std::nullopt;
  }
  const int64_t stride = at.size() > 1 ? at[1] - at[0] : 1;
  for (size_t i = 1; i < at.size(); ++i)
    if (at[i] - at[i - 1] != stride || stride <= 0) return std::nullopt;
  return Range{at[0], static_cast<int64_t>(at.size()), stride};
}

/// Whether the coordinates, one in each row of `indices`, are all of `extents` in row-major order.
bool counts(const HostTensor& indices, std::span<const int64_t> extents) {
  const std::vector<int64_t> at = View(indices).integers();
  if (at.size() != static_cast<size_t>(volume(extents)) * extents.size()) return false;
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t axis = i % extents.size();
    const int64_t inner = volume(extents.subspan(axis + 1));
    if (at[i] != static_cast<int64_t>(i / extents.size()) / inner % extents[axis]) return false;
  }
  return true;
}

/// Whether an nd Gather takes every element where it is.
bool takes_all(const ops::Gather& op, const TensorType& x, const HostTensor& indices) {
  if (op.mode != GatherMode::kNd || op.num_elementwise_dims != 0 || indices.rank() == 0 || !x.is_static()) return false;
  const Extents extents = x.opt_extents();
  const auto axes = static_cast<size_t>(indices.extents().back());
  return axes > 0 && axes <= extents.size() && counts(indices, std::span(extents).first(axes));
}

}  // namespace

Status gather_to_slice(ir::Graph& graph, PassContext& cx) {
  if (cx.refittable) return {};  // the constants that decide may become others
  const ir::Pattern gather = ir::op<ops::Gather>("y", ir::any("x"), ir::constant("indices"));
  return rewrite(graph, gather, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto& op = found.op<ops::Gather>("y");
    const TensorType& x = found.type("x");
    if (takes_all(op, x, *found.constant("indices")))
      return patch.replace(found.value("y"), TRY(reshape_to(patch, found.value("x"), found.type("y").shape)));
    if (op.mode != GatherMode::kDefault || op.num_elementwise_dims != 0) return {};
    const int axis = TRY(normalize_axis(op.axis, x.rank()));
    const auto range = range_of(*found.constant("indices"), x.shape[static_cast<size_t>(axis)]);
    if (!range) return {};
    const ops::Slice slice{
        .starts = {range->start}, .sizes = {range->size}, .strides = {range->stride}, .axes = {axis}};
    const ir::ValueId sliced = TRY(patch.add(slice, {found.value("x")}));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, sliced, found.type("y").shape)));
  });
}

}  // namespace kiln::passes
