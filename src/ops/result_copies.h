/// Results of bodies as the outputs of a reference run, for ops that have bodies.
#pragma once

#include "ops/bodies.h"
#include "ops/reference_context.h"

namespace kiln::ops {

/// Writes the outputs, and tells the extents that are decided. Fails where a result is larger than its output may be.
Status copy_results(ReferenceContext& cx, std::span<const HostTensor> results, std::span<const DecidedAxis> decided);
/// Element `i` along axis 0, a copy.
Result<HostTensor> slice_at(const HostTensor& x, int64_t i);
/// Slices along a new axis 0; where there are none, an empty tensor of the extents that `like` has along the others.
Result<HostTensor> stack(std::span<const HostTensor> slices, const MutableView& like);

}  // namespace kiln::ops
