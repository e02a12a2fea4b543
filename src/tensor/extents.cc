#include "tensor/extents.h"

namespace kiln {

Result<int64_t> checked_volume(std::span<const int64_t> extents) {
  int64_t result = 1;
  bool overflow = false, empty = false;
  for (const int64_t e : extents) {
    if (e < 0) return error(Code::kInvalidArgument, "extent ", e, " of ", extents, " is negative");
    empty |= e == 0;
    if (!overflow) overflow = __builtin_mul_overflow(result, e, &result);
  }
  if (empty) return 0;
  if (overflow) return error(Code::kInvalidArgument, "the volume of ", extents, " exceeds 2^63 - 1");
  return result;
}

Extents row_major_strides(std::span<const int64_t> extents) {
  Extents strides(extents.size());
  uint64_t stride = 1;  // wraps where no element is: beside an extent of 0 others may be of any size
  for (size_t i = extents.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(extents[i]);
  }
  return strides;
}

Result<int> normalize_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return error(Code::kInvalidArgument, "axis ", axis, " is outside [", -rank, ", ", rank, ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace kiln
