#include "ops/read_values.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::ReadValues>();

namespace ops {

Status ReadValues::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(0));
  const auto count = x.volume().constant();
  TRY(cx.require(is_index(x.dtype) || x.dtype == DType::kBool, "x is ", x, "; i32, i64 or bool needed"));
  TRY(cx.require(count && *count <= kMost, "x is ", x, "; at most ", kMost,
                 " elements are read, and their number must be constant"));
  SymbolicValues values;
  for (int64_t i = 0; i < *count; ++i) values.push_back(cx.decided_number("number"));
  TensorType y = x;
  y.values = std::make_shared<const SymbolicValues>(std::move(values));
  return cx.set_output(0, std::move(y));
}

Status ReadValues::reference(ReferenceContext& cx) const {
  const View x = TRY(cx.input(0));
  const MutableView y = TRY(cx.output(0));
  for (int64_t i = 0; i < x.volume(); ++i) {
    cx.set_size(static_cast<size_t>(i), x.integer(i));
    y.copy_element(i, x, i);
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
