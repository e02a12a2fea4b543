/// What libnvinfer does for its library of standard plugins alone.
#pragma once

#include "api/base/private_entry.h"
#include "base/error.h"
#include "library/value.h"

namespace kiln::plugins {

/// libnvinfer's functions for plugins; fails where it is of another build.
Result<KilnPluginEntry> plugin_entry();
/// Whether engines run on a GPU.
bool runs_on_gpu();

/// updates[i] goes to data[i with i[axis] replaced by indices[i]].
Value scatter_reduced(const Value& data, const Value& indices, const Value& updates, int axis, KilnReduction reduction);
Value roi_align(const Value& x, const Value& rois, const Value& batch_indices, const KilnRoiAlign& how);

}  // namespace kiln::plugins
