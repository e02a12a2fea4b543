/// Where the library meets the machine: the one device of the process, with its executors. KILN_DEVICE chooses it.
#pragma once

#include <string_view>

#include "backend/cpu/device/cpu_device.h"
#include "base/error.h"

namespace kiln::api {

/// Whether KILN_DEVICE may say this; empty is as if it were not set.
Status check_device_name(std::string_view name);
/// Made when first asked for, shared by builders, runtimes and streams, never destroyed: its threads end with the
/// process. Fails for KILN_DEVICE=cuda, which this version lacks, and on a CPU without the instructions that kernels
/// need.
Result<Ref<cpu::CpuDevice>> host_device();
/// The device that engines run on: the same, as the interface.
Result<Ref<Device>> default_device();

}  // namespace kiln::api
