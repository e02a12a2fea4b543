#include "ops/pointwise.h"

#include "ops/movement.h"
#include "tensor/view.h"

namespace kiln {

Result<Shape> broadcast_inputs(InferContext& cx, std::string_view op) {
  const TensorType& first = TRY(cx.input(0));
  Shape shape = first.shape;
  for (int i = 1; i < cx.num_inputs(); ++i) {
    const TensorType& other = TRY(cx.input(i));
    TRY(cx.require(other.rank() == first.rank(), op, " has inputs ", first, " and ", other,
                   "; their ranks must be equal, insert axes of extent 1"));
    shape = TRY(in_context(cx.broadcast(shape, other.shape), [&] { return str(op, " of ", first, " and ", other); }));
  }
  return shape;
}

int64_t wrap_integer(DType dtype, int64_t value) {
  std::byte storage[sizeof(int64_t)]{};
  store_integer(dtype, storage, 0, value);
  return load_integer(dtype, storage, 0);
}

BroadcastWalk::BroadcastWalk(Extents extents, std::span<const Extents> inputs)
    : extents_(std::move(extents)), position_(extents_.size(), 0), strides_(extents_.size()), left_(volume(extents_)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Extents strides = row_major_strides(inputs[i]);
    for (size_t axis = 0; axis < extents_.size(); ++axis) strides_[axis][i] = inputs[i][axis] == 1 ? 0 : strides[axis];
  }
}

void BroadcastWalk::next() {
  --left_;
  for (size_t axis = extents_.size(); axis-- > 0;) {
    const bool carry = ++position_[axis] == extents_[axis];
    if (carry) position_[axis] = 0;
    for (size_t i = 0; i < at_.size(); ++i)
      at_[i] += carry ? -strides_[axis][i] * (extents_[axis] - 1) : strides_[axis][i];
    if (!carry) return;
  }
}

Result<BroadcastWalk> walk_output(ReferenceContext& cx) {
  std::vector<Extents> inputs;
  for (int i = 0; i < cx.num_inputs(); ++i) inputs.push_back(TRY(cx.input(i)).extents());
  return BroadcastWalk(TRY(cx.output(0)).extents(), inputs);
}

namespace {
/// The values of output 0, or null if they cannot be said.
Result<std::shared_ptr<const SymbolicValues>> combine_all(InferContext& cx, const TensorType& type, const void* op,
                                                          CombineValues combine) {
  if (!carries_values(type)) return nullptr;
  const Extents extents = TRY(type.extents());
  std::vector<SymbolicValues> inputs;
  std::vector<Extents> input_extents;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const TensorType& input = TRY(cx.input(i));
    if (!cx.has_values(i) || !input.is_static()) return nullptr;
    inputs.push_back(TRY(cx.values(i)));
    input_extents.push_back(TRY(input.extents()));
  }
  SymbolicValues values;
  std::vector<sym::Expr> arguments(inputs.size());
  const DType dtype = TRY(cx.input(cx.num_inputs() - 1)).get().dtype;
  for (BroadcastWalk walk(extents, input_extents); !walk.done(); walk.next()) {
    for (size_t i = 0; i < inputs.size(); ++i) arguments[i] = inputs[i][static_cast<size_t>(walk.at()[i])];
    std::optional<sym::Expr> value = combine(op, dtype, arguments);
    if (value && is_float(type.dtype)) value = stored_real(type.dtype, *value);
    if (!value || !value->is_valid()) return nullptr;
    const bool wraps = value->is_const() && !is_float(type.dtype);
    values.push_back(wraps ? sym::Expr(wrap_integer(type.dtype, value->value())) : *value);
  }
  return std::make_shared<const SymbolicValues>(std::move(values));
}
}  // namespace

Status set_pointwise_output(InferContext& cx, DType dtype, Shape shape, const void* op, CombineValues combine) {
  TensorType type(dtype, std::move(shape));
  type.values = TRY(combine_all(cx, type, op, combine));
  return cx.set_output(0, std::move(type));
}

}  // namespace kiln
