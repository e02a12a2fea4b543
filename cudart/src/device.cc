// The one device there is, and its state for a thread or the process.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "allocations.h"
#include "call.h"

using namespace kiln::cudart;

namespace {

std::atomic<unsigned int> device_flags{cudaDeviceScheduleAuto};

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return remember(cudaErrorInvalidValue);
  *count = 0;
  return call([&](const KilnPrivateEntry&) {
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](const KilnPrivateEntry&) { return check_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) return cudaErrorInvalidValue;
    if (flags && (device_flags & ~static_cast<unsigned>(cudaDeviceMask))) return cudaErrorInvalidValue;
    return check_device(device);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int len, int device) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (!id || len <= 0) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    constexpr char kNowhere[] = "0000:00:00.0";  // the host is on no PCI bus
    const size_t length = std::min(sizeof kNowhere - 1, static_cast<size_t>(len) - 1);
    std::memcpy(id, kNowhere, length);
    id[length] = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.synchronize_all()); });
}

// Handles of streams and events stay valid: programs that reset at their end destroy them afterwards.
cudaError_t cudaDeviceReset() {
  return call([](const KilnPrivateEntry& kiln) {
    const KilnStatus done = kiln.stream.synchronize_all();
    for (const Block& block : Allocations::instance().take_all()) kiln.device.release(block.data);
    last_error(/*forget=*/true);
    return to_cuda(done);
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (!can) return cudaErrorInvalidValue;
    *can = 0;
    return device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

// There is no other device.
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) {
  return call([](const KilnPrivateEntry&) { return cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
  return call([](const KilnPrivateEntry&) { return cudaErrorInvalidDevice; });
}

// All limits are of kernels that a GPU runs.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t) {
  return call([&](const KilnPrivateEntry&) {
    return limit < 0 || limit > cudaLimitPersistingL2CacheSize ? cudaErrorInvalidValue : cudaErrorUnsupportedLimit;
  });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call([&](const KilnPrivateEntry&) {
    if (!value || limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    return cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    const unsigned int schedule = flags & cudaDeviceScheduleMask;
    if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return cudaErrorInvalidValue;
    if (schedule & (schedule - 1)) return cudaErrorInvalidValue;  // one way to wait at most
    device_flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    if (!flags) return cudaErrorInvalidValue;
    *flags = device_flags;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (!version) return remember(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (!version) return remember(cudaErrorInvalidValue);
  *version = 0;  // no driver is needed, nor looked for
  return cudaSuccess;
}

// Profilers of the host need no telling.
cudaError_t cudaProfilerStart() {
  return call([](const KilnPrivateEntry&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call([](const KilnPrivateEntry&) { return cudaSuccess; });
}
