/// The devices of the process, with their executors. KILN_DEVICE chooses among them.
#pragma once

#include <string>
#include <string_view>

#include "backend/cpu/device/cpu_device.h"
#include "backend/cuda/device/cuda_device.h"
#include "base/error.h"
#include "base/log.h"

namespace kiln::api {

/// Whether KILN_DEVICE may say this; empty is as if it were not set.
Status check_device_name(std::string_view name);
/// Devices are made when first asked for, shared by builders, runtimes and streams, never destroyed: their threads end
/// with the process; one that was forked off has another. Fails on a CPU without the instructions that kernels need.
Result<Ref<cpu::CpuDevice>> host_device();
/// CUDA device `ordinal`, whatever KILN_DEVICE says.
Result<Ref<cuda::CudaDevice>> cuda_device(int ordinal);

/// The process's kind of device: as KILN_DEVICE says, else CUDA where a driver and a GPU are there, else the CPU.
/// Decided once. Fails where KILN_DEVICE asks for what is not there.
Result<DeviceKind> default_device_kind();
/// The device of that kind; of several GPUs the one that is the calling thread's by cudaSetDevice, else the first.
Result<Ref<Device>> default_device();

/// Says whether this thread builds and loads engines for the CPU from now on, whatever the process's kind of device is.
/// Returns what it did before.
bool use_host(bool on);
/// The kind of device that this thread builds and loads engines for: the CPU after `use_host`, else the default one.
Result<DeviceKind> engine_device_kind();
/// The device of that kind, as `default_device` chooses it.
Result<Ref<Device>> engine_device();
/// Makes the context of that device, where it is a GPU, current on this thread if the thread has none: plugins that
/// load modules in their constructors find it, as they do behind TensorRT. A device that cannot be had is told of by
/// whoever needs it.
void make_engine_device_current();

/// "9.0".
std::string compute_capability(const cuda::CudaDevice& device);

/// Tells what the machine lacks and what that costs, each once a process.
void announce_devices(Log& log);

}  // namespace kiln::api
