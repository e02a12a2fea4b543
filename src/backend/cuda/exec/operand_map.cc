#include "backend/cuda/exec/operand_map.h"

namespace kiln::cuda {

Status OperandMap::encode(const Driver& driver, const MapPlan& plan, const void* address) {
  if (address_ == address) return {};
  const unsigned ones[] = {1, 1, 1, 1, 1};
  TRY(driver.check(
      driver.tensor_map_encode_tiled(&map_, plan.type, plan.rank, const_cast<void*>(address), plan.extents,
                                     plan.strides_bytes, plan.box, ones, 0, plan.swizzle, plan.l2, kBeyondZero),
      "encode a tensor map of ", plan.extents[0], " x ", plan.extents[1], " x ", plan.extents[2]));
  address_ = address;
  return {};
}

}  // namespace kiln::cuda
