/// The library behind these functions: libnvinfer, which owns the device, its streams and its threads.
#pragma once

#include "api/base/private_entry.h"
#include "backend/cuda/device/driver.h"
#include "cuda_profiler_api.h"
#include "cuda_runtime_api.h"

namespace kiln::cudart {

/// libnvinfer's functions, looked for on the first call: among what the process has loaded, then by dlopen. Null if
/// there is none or it has no device; `why_not()` then says why.
const KilnPrivateEntry* library();

/// The driver, where engines run on a GPU: then these functions are the driver's on a device's primary context, and
/// streams, events and memory are those of any other user of that context. Null on the CPU, or without `library()`.
const cuda::Driver* driver();

struct Absence {
  cudaError_t error;  ///< what every call that needs the library returns
  const char* text;
};
/// Only after `library()` returned null.
Absence why_not();

}  // namespace kiln::cudart
