#include "ops/reverse_sequence.h"

#include "ops/define.h"
#include "ops/movement.h"

namespace kiln {
template const OpInfo& op_info<ops::ReverseSequence>();

namespace ops {

Status ReverseSequence::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const TensorType& lens = TRY(cx.input(1));
  const int batch = TRY(cx.axis(batch_axis, x)), sequence = TRY(cx.axis(sequence_axis, x));
  TRY(cx.require(batch != sequence, "axis ", batch, " of x ", x, " cannot be both that of batches and of sequences"));
  TRY(cx.require(is_index(lens.dtype) && lens.rank() == 1, "lens are ", lens, "; a vector of i32 or i64 is needed"));
  TRY(cx.assume_equal(lens.shape[0], x.shape[static_cast<size_t>(batch)],
                      str("lens ", lens, " and axis ", batch, " of x ", x)));
  return cx.set_output(0, TensorType(x.dtype, x.shape));
}

Status ReverseSequence::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0)), lens = TRY(cx.input(1));
  const MutableView y = TRY(cx.output(0));
  const auto batch = static_cast<size_t>(TRY(cx.axis(batch_axis, x.rank()))),
             sequence = static_cast<size_t>(TRY(cx.axis(sequence_axis, x.rank())));
  const int64_t extent = x.extents()[sequence], stride = row_major_strides(x.extents())[sequence];
  const std::vector<int64_t> lengths = lens.integers();
  for (const int64_t length : lengths)
    TRY(require(length >= 0 && length <= extent, "length ", length, " is outside [0, ", extent, "]"));
  for_each_index(x.extents(), [&](int64_t linear, std::span<const int64_t> index) {
    const int64_t i = index[sequence], length = lengths[static_cast<size_t>(index[batch])];
    y.copy_element(linear, x, linear + (i < length ? length - 1 - 2 * i : 0) * stride);
  });
  return {};
}

}  // namespace ops
}  // namespace kiln
