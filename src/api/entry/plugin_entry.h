/// The builder's hook for the library of standard plugins.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnPluginEntry plugin_entry();

}  // namespace kiln::api
