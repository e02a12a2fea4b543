#include "ops/unsqueeze.h"

#include <cstring>

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Unsqueeze>();

namespace ops {

Status Unsqueeze::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const SymbolicValues given = TRY(dims_of(cx, 1, axes, "axes"));
  const int rank = x.rank() + static_cast<int>(given.size());
  const std::vector<int> inserted =
      TRY(in_context(axes_of(cx, 1, axes, rank), [&] { return str("y of rank ", rank, ", from x ", x); }));
  std::vector<bool> is_new(static_cast<size_t>(rank), false);
  for (const int axis : inserted) is_new[static_cast<size_t>(axis)] = true;
  kiln::Shape shape;
  size_t next = 0;
  for (const bool fresh : is_new) shape.push_back(fresh ? sym::Expr(1) : x.shape[next++]);
  return set_view_output(cx, 0, TensorType(x.dtype, std::move(shape)));
}

Status Unsqueeze::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  if (x.volume()) std::memcpy(y.data(), x.data(), static_cast<size_t>(size_bytes(x.dtype(), x.volume())));
  return {};
}

}  // namespace ops
}  // namespace kiln
