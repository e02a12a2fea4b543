/// What libnvinfer does for its library of standard plugins alone.
#pragma once

#include "api/base/private_entry.h"
#include "base/error.h"
#include "library/value.h"

namespace kiln::plugins {

/// libnvinfer's functions for plugins; fails where it is of another build.
Result<KilnPluginEntry> plugin_entry();
/// Whether the program captures the enqueue that this thread is in, and may launch what it queues at any time.
bool enqueue_is_captured();
/// Hands libnvinfer why a call of a plugin fails that it, or a plugin of the program's, makes in this thread. Returns
/// whether its error has these words.
bool tell_caller(const char* plugin, const char* words);

/// updates[i] goes to data[i with i[axis] replaced by indices[i]].
Value scatter_reduced(const Value& data, const Value& indices, const Value& updates, int axis, KilnReduction reduction);
Value roi_align(const Value& x, const Value& rois, const Value& batch_indices, const KilnRoiAlign& how);

}  // namespace kiln::plugins
