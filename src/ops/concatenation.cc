#include "ops/concatenation.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::Concatenation>();

namespace {
/// Moves the elements of one input, `start` along the axis of the whole: f(index in the whole, index in the input).
template <class F>
void for_each_part_element(std::span<const int64_t> part, std::span<const int64_t> whole, int axis, int64_t start,
                           F f) {
  const Extents strides = row_major_strides(whole);
  for_each_index(part, [&](int64_t linear, std::span<const int64_t> index) {
    int64_t to = start * strides[static_cast<size_t>(axis)];
    for (size_t i = 0; i < index.size(); ++i) to += index[i] * strides[i];
    f(to, linear);
  });
}

/// The values of y, where those of every input are known.
std::optional<SymbolicValues> joined_values(InferContext& cx, const TensorType& y, int axis) {
  if (!carries_values(y)) return std::nullopt;
  const Extents whole = *y.extents();
  SymbolicValues joined(static_cast<size_t>(volume(whole)));
  int64_t start = 0;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const auto values = small_values(cx, i);
    if (!values) return std::nullopt;
    const Extents part = *cx.input(i)->get().extents();
    for_each_part_element(part, whole, axis, start, [&](int64_t to, int64_t from) {
      joined[static_cast<size_t>(to)] = (*values)[static_cast<size_t>(from)];
    });
    start += part[static_cast<size_t>(axis)];
  }
  return joined;
}
}  // namespace

namespace ops {

Status Concatenation::infer(InferContext& cx) const {
  const TensorType& first = TRY(cx.input(0));
  const int along = TRY(cx.axis(axis, first, "input 0"));
  Shape shape = first.shape;
  for (int i = 1; i < cx.num_inputs(); ++i) {
    const TensorType& x = TRY(cx.input(i));
    TRY(cx.require(x.dtype == first.dtype, "input ", i, " is ", x, " and input 0 is ", first,
                   "; all must have one element type"));
    TRY(cx.require(x.rank() == first.rank(), "input ", i, " is ", x, " and input 0 is ", first,
                   "; all must have one rank"));
    for (size_t k = 0; k < shape.size(); ++k) {
      if (static_cast<int>(k) == along) {
        shape[k] += x.shape[k];
        continue;
      }
      TRY(cx.assume_equal(
          shape[k], x.shape[k],
          str("axis ", k, " of inputs 0 (", first, ") and ", i, " (", x, ") joined along axis ", along)));
      if (x.shape[k].is_const()) shape[k] = x.shape[k];
    }
  }
  TensorType y(first.dtype, std::move(shape));
  if (auto values = joined_values(cx, y, along)) y.values = std::make_shared<const SymbolicValues>(*std::move(values));
  return cx.set_output(0, std::move(y));
}

Status Concatenation::reference(ReferenceContext& cx) const {
  const MutableView y = TRY(cx.output(0));
  const int along = TRY(cx.axis(axis, y.rank()));
  int64_t start = 0;
  for (int i = 0; i < cx.num_inputs(); ++i) {
    const View x = TRY(cx.input(i));
    for_each_part_element(x.extents(), y.extents(), along, start,
                          [&](int64_t to, int64_t from) { y.copy_element(to, x, from); });
    start += x.extents()[static_cast<size_t>(along)];
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
