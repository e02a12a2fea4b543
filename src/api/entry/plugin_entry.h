/// What the library of standard plugins and the bindings ask of builds and runs.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnPluginEntry plugin_entry();
KilnEnqueueKind enqueue_kind();

}  // namespace kiln::api
