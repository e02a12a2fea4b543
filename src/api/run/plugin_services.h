/// What the library gives to plugins.
#pragma once

#include "api/base/report.h"
#include "plugin/services.h"

namespace kiln::api {

/// The services of this thread's `engine_device`, which live as long as the process. `allocator`: the program's; null:
/// it has set none. Errors go to the reporter's recorder.
Result<plugin::Services> plugin_services(const Reporter& reporter, nvinfer1::IGpuAllocator* allocator = nullptr);

}  // namespace kiln::api
