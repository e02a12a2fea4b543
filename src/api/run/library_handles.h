/// Handles of cuDNN and cuBLAS for plugins of version 2.
#pragma once

#include <NvInferRuntime.h>

#include "base/log.h"
#include "device/device.h"
#include "plugin/services.h"

namespace kiln::api {

/// Makes handles on a GPU, of the libraries among `sources` (TacticSource::kCUDNN, kCUBLAS) that can be loaded. The log
/// hears of each handle that plugins get null for, and why: a warning where the library is missing. The device lives
/// longer.
plugin::MakeLibraryHandles library_handles(Device& device, nvinfer1::TacticSources sources, Log& log);

}  // namespace kiln::api
