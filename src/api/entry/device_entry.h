/// Memory and facts of the device for the CUDA runtime's functions.
#pragma once

#include "api/base/private_entry.h"

namespace kiln::api {

KilnDeviceEntry device_entry();
KilnGpuEntry gpu_entry();

}  // namespace kiln::api
