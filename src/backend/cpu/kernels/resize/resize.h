/// Resampling: ops::Resize along any axes, in any unblocked format, by tables made when shapes are bound.
///
/// Axes that stay whole merge: those before the first resized axis (in memory) are planes, those after the last one
/// are one inner run. So NCHW has inner runs of 1 and NHWC of C, and both are one kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cpu/device/team.h"
#include "base/error.h"
#include "ops/resize.h"
#include "tensor/dtype.h"
#include "tensor/extents.h"
#include "tensor/format.h"

namespace kiln::cpu {

/// Taps of one axis; tap t of output i is at [t * out + i].
struct ResizeAxis {
  int64_t in = 1, out = 1;
  int taps = 1;
  std::vector<int32_t> index;
  std::vector<float> weight;
  std::vector<uint8_t> outside;  ///< by output, where outputs may lie outside x: 1 if this one does
  size_t axis = 0;               ///< of the tensor
  bool varies = false;           ///< with what the inputs of a run say
};

struct ResizePlan {
  ResizeMode mode = ResizeMode::kNearest;
  int element_bytes = 4;
  int64_t planes = 1, inner = 1;
  std::vector<ResizeAxis> axes;  ///< in memory's order; the last one runs along rows. Empty: a plain copy
  int64_t rows = 0;              ///< of the output
  int64_t parts = 1;
  int64_t row_floats = 0;                   ///< of workspace for each worker
  std::array<std::byte, 8> extrapolated{};  ///< an element of y outside x
  std::vector<ResizeTap> taps;              ///< room for those of any axis, and below for the spans of all
  std::vector<ResizeSpan> spans;
  int64_t workspace_bytes(int team_size) const { return row_floats * 4 * team_size; }
};

/// The inputs that a resize has besides x.
struct ResizeHas {
  bool sizes = false;                ///< scales follow from the extents
  bool roi = false, scales = false;  ///< tables are made anew in every run, by update_resize
};
/// `in` and `out` are the tensor's own extents, whatever the format. Nearest takes any type of whole bytes, the others
/// f32 (else kUnsupported).
Result<ResizePlan> plan_resize(const ops::Resize& resize, const ResizeHas& has, DType dtype,
                               std::span<const int64_t> in, std::span<const int64_t> out, const Format& format);

/// Fails where an axis is longer than tables are made for.
Status check_resize_tables(const ops::Resize& resize, const ResizeHas& has, std::span<const int64_t> in,
                           std::span<const int64_t> out);

/// Fills the tables that a run's inputs decide; `resize`, `in` and `out` are those of the plan. Allocates nothing.
Status update_resize(ResizePlan& plan, const ops::Resize& resize, const ResizeInputs& inputs,
                     std::span<const int64_t> in, std::span<const int64_t> out);

/// `workspace` holds plan.workspace_bytes(team.size()), aligned to a cache line; null if that is 0.
void run_resize(Team& team, const ResizePlan& plan, const void* x, void* y, void* workspace);

}  // namespace kiln::cpu
