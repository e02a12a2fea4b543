/// What the library gives to plugins.
#pragma once

#include "plugin/services.h"

namespace kiln::api {

/// The services of the default device. They live as long as the process.
Result<plugin::Services> plugin_services();

}  // namespace kiln::api
