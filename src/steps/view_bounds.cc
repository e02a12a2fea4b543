#include "steps/view_bounds.h"

namespace kiln {

Status check_view_bounds(int64_t offset, std::span<const int64_t> strides, const Extents& extents,
                         const Extents& tensor, std::string_view what) {
  if (volume(extents) == 0) return {};
  int64_t least = offset, most = offset;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    int64_t reach = 0, &end = strides[axis] < 0 ? least : most;
    TRY(require(
        !__builtin_mul_overflow(strides[axis], extents[axis] - 1, &reach) && !__builtin_add_overflow(end, reach, &end),
        what, " has a stride of ", strides[axis], " along ", extents[axis], " elements"));
  }
  return require(least >= 0 && most < volume(tensor), what, " reads elements ", least, " to ", most, " of ", tensor);
}

}  // namespace kiln
