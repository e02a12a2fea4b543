#include "ops/loop_trip_limit.h"

#include "ops/define.h"
#include "ops/group.h"

namespace kiln {
template const OpInfo& op_info<ops::LoopTripLimit>();

namespace ops {

Status LoopTripLimit::infer(InferContext& cx) const {
  const TensorType& type = TRY(cx.input(0));
  const bool is_count = limit == TripLimit::kCount;
  const bool is_right = is_count ? is_index(type.dtype) : type.dtype == DType::kBool;
  return cx.require(is_right && !sym::provably_different(type.volume(), 1), "the trip limit is ", type,
                    "; one element of type ", is_count ? "i32 or i64" : "bool", " is needed");
}

Status LoopTripLimit::reference(ReferenceContext&) const { return boundary_has_no_reference(name); }

}  // namespace ops
}  // namespace kiln
