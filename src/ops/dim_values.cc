#include "ops/dim_values.h"

#include "ops/define.h"
#include "ops/movement.h"
#include "sym/real.h"

namespace kiln {
template const OpInfo& op_info<ops::DimValues>();

namespace ops {

Status DimValues::infer(InferContext& cx) const {
  const int64_t count = TRY(checked_volume(extents));
  TRY(cx.require(count == static_cast<int64_t>(values.size()), "extents ", extents, " hold ", count,
                 " elements; there are ", values.size(), " values"));
  for (const sym::Expr& value : values)
    TRY(cx.require(value.is_valid(), "a dimension has no value: ", value.why_invalid()));
  TensorType y = tensor_type(dtype, extents);
  if (carries_values(y)) {
    SymbolicValues known = values;
    for (sym::Expr& value : known)
      if (is_float(dtype)) value = sym::real(value);
    give_values(y, std::move(known));
  }
  return cx.set_output(0, std::move(y));
}

Status DimValues::reference(ReferenceContext& cx) const {
  const MutableView y = TRY(cx.output(0));
  for (size_t i = 0; i < values.size(); ++i) {
    TRY(require(values[i].is_const(), "element ", i, " is ", values[i], ", whose symbols are not bound"));
    y.set_integer(static_cast<int64_t>(i), values[i].value());
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
