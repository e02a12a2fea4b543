/// What the library of standard plugins and the bindings ask of builds and runs.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnPluginEntry plugin_entry();
KilnEnqueueKind enqueue_kind();
int32_t tell_failure(const char* plugin, const char* words);

}  // namespace kiln::api
