#include "ops/if_condition.h"

#include "ops/define.h"
#include "ops/group.h"

namespace kiln {
template const OpInfo& op_info<ops::IfCondition>();

namespace ops {

Status IfCondition::infer(InferContext& cx) const {
  const TensorType& type = TRY(cx.input(0));
  return cx.require(type.dtype == DType::kBool && !sym::provably_different(type.volume(), 1), "the condition is ", type,
                    "; one boolean is needed");
}

Status IfCondition::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
