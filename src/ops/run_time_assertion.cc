#include "ops/run_time_assertion.h"

#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::RunTimeAssertion>();

namespace ops {

Status RunTimeAssertion::infer(InferContext& cx) const {
  const TensorType& condition = TRY(cx.input(0));
  TRY(cx.require(condition.dtype == DType::kBool, "the condition is ", condition, "; booleans are needed"));
  return cx.set_output(0, TensorType(DType::kBool, {}));
}

Status RunTimeAssertion::reference(ReferenceContext& cx) const {
  const std::vector<int64_t> condition = TRY(cx.input(0)).integers();
  for (size_t i = 0; i < condition.size(); ++i)
    TRY(require(condition[i] != 0, "the assertion '", message, "' does not hold: element ", i, " of ", condition.size(),
                " is false"));
  TRY(cx.output(0)).set_integer(0, 1);
  return {};
}

}  // namespace ops
}  // namespace kiln
