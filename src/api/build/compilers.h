/// What building has to tell of the machine's compilers.
#pragma once

#include "base/log.h"
#include "device/device.h"

namespace kiln::api {

/// Tells what the machine lacks and what that costs, each once a process.
void announce_compilers(Log& log);
/// Tells what a build met on a device, each once.
void announce_compiled(Device& device, Log& log);

}  // namespace kiln::api
