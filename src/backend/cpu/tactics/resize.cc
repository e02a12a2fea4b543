/// Resampling, row-major or channels last: kernels/resize.
#include "tactics/resize.h"

#include "backend/cpu/kernels/resize/resize.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class ResizeTactic final : public PlainTactic<ResizeRegions> {
  Status check(const Resampling& r) const override {
    const bool mixes = r.op.mode != ResizeMode::kNearest;
    TRY(require(bits_of(r.x.dtype) >= 8, "x is ", r.x, "; elements of less than a byte are not moved"));
    TRY(require(!mixes || r.x.dtype == DType::kF32, "x is ", r.x, "; linear and cubic take f32"));
    TRY(require(!mixes || !r.op.antialias || !r.scales,
                "scales of the run decide how many taps antialiasing has; the kernel's tables are made before"));
    return check_resize_tables(r.op, {r.sizes, r.roi, r.scales}, planned_extents(r.x), planned_extents(r.y));
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Resize>() {
  return list_of<ResizeTactic>();
}

}  // namespace kiln::cpu
