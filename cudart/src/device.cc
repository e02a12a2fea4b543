// The one device there is, and its state for a thread or the process.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "allocations.h"
#include "call.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

std::atomic<unsigned int> device_flags{cudaDeviceScheduleAuto};

/// Contexts by device, held from the first use on.
struct Primaries {
  std::mutex mutex;
  std::map<int, kiln::cuda::ContextHandle> contexts;
};
Primaries& primaries() {
  static Primaries& all = *new Primaries;
  return all;
}

int primary_context(const Driver& gpu, int device, kiln::cuda::ContextHandle& context) {
  int count = 0;
  if (const int unknown = gpu.device_get_count(&count)) return unknown;
  if (device < 0 || device >= count) return cudaErrorInvalidDevice;
  const std::lock_guard lock(primaries().mutex);
  auto& known = primaries().contexts[device];
  if (!known)
    if (const int refused = gpu.device_primary_ctx_retain(&known, device)) return refused;
  context = known;
  return cudaSuccess;
}

int set_device(const Driver& gpu, int device) {
  kiln::cuda::ContextHandle context = nullptr;
  const int unusable = primary_context(gpu, device, context);
  return unusable ? unusable : gpu.ctx_set_current(context);
}

}  // namespace

cudaError_t kiln::cudart::use_device(const Driver& gpu) noexcept {
  kiln::cuda::ContextHandle current = nullptr;
  if (const int unknown = gpu.ctx_get_current(&current)) return static_cast<cudaError_t>(unknown);
  return current ? cudaSuccess : static_cast<cudaError_t>(set_device(gpu, 0));
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return remember(cudaErrorInvalidValue);
  *count = 0;
  return call([&](const Driver& gpu) { return gpu.device_get_count(count); },
              [&](const KilnPrivateEntry&) {
                *count = 1;
                return cudaSuccess;
              });
}

cudaError_t cudaGetDevice(int* device) {
  const auto on_gpu = [&](const Driver& gpu) {
    return device ? gpu.ctx_get_device(device) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](const Driver& gpu) { return set_device(gpu, device); },
              [&](const KilnPrivateEntry&) { return check_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) return cudaErrorInvalidValue;
    kiln::cuda::ContextHandle made = nullptr;
    return primary_context(gpu, device, made);  // the thread keeps its own
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (flags & ~static_cast<unsigned>(cudaInitDeviceFlagsAreValid)) return cudaErrorInvalidValue;
    if (flags && (device_flags & ~static_cast<unsigned>(cudaDeviceMask))) return cudaErrorInvalidValue;
    return check_device(device);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int len, int device) {
  const auto on_gpu = [&](const Driver& gpu) {
    return id && len > 0 ? gpu.device_get_pci_bus_id(id, len, device) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
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
  return call([](const Driver& gpu) { return gpu.ctx_synchronize(); },
              [](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.synchronize_all()); });
}

// Handles of streams and events stay valid: programs that reset at their end destroy them afterwards. On a GPU the
// memory stays too, for the context is the engines' as well.
cudaError_t cudaDeviceReset() {
  const auto on_gpu = [](const Driver& gpu) {
    const int done = gpu.ctx_synchronize();
    last_error(/*forget=*/true);
    return done;
  };
  return call(on_gpu, [](const KilnPrivateEntry& kiln) {
    const KilnStatus done = kiln.stream.synchronize_all();
    for (const Block& block : Allocations::instance().take_all()) kiln.device.release(block.data);
    last_error(/*forget=*/true);
    return to_cuda(done);
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const auto on_gpu = [&](const Driver& gpu) { return gpu.ctx_get_stream_priority_range(least, greatest); };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const auto on_gpu = [&](const Driver& gpu) {
    return can ? gpu.device_can_access_peer(can, device, peer) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!can) return cudaErrorInvalidValue;
    *can = 0;
    return device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

// The host has no other device.
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) {
    kiln::cuda::ContextHandle peer = nullptr;
    const int unusable = primary_context(gpu, device, peer);
    return unusable ? unusable : gpu.ctx_enable_peer_access(peer, flags);
  };
  return call(on_gpu, [](const KilnPrivateEntry&) { return cudaErrorInvalidDevice; });
}
cudaError_t cudaDeviceDisablePeerAccess(int device) {
  const auto on_gpu = [&](const Driver& gpu) {
    kiln::cuda::ContextHandle peer = nullptr;
    const int unusable = primary_context(gpu, device, peer);
    return unusable ? unusable : gpu.ctx_disable_peer_access(peer);
  };
  return call(on_gpu, [](const KilnPrivateEntry&) { return cudaErrorInvalidDevice; });
}

// All limits concern kernels that run on a GPU.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call([&](const Driver& gpu) { return gpu.ctx_set_limit(limit, value); },
              [&](const KilnPrivateEntry&) {
                return limit < 0 || limit > cudaLimitPersistingL2CacheSize ? cudaErrorInvalidValue
                                                                           : cudaErrorUnsupportedLimit;
              });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  const auto on_gpu = [&](const Driver& gpu) {
    return value ? gpu.ctx_get_limit(value, limit) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) {
    if (!value || limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorInvalidValue;
    return cudaErrorUnsupportedLimit;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return call([&](const KilnPrivateEntry&) -> cudaError_t {
    const unsigned int schedule = flags & cudaDeviceScheduleMask;
    if (flags & ~static_cast<unsigned>(cudaDeviceMask)) return cudaErrorInvalidValue;
    if (schedule & (schedule - 1)) return cudaErrorInvalidValue;  // more than one way to wait
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
  *version = 0;  // means that there is no driver
  if (const Driver* gpu = driver()) *version = gpu->version;
  return cudaSuccess;
}

// Profilers of the host need no telling.
cudaError_t cudaProfilerStart() {
  return call([](const KilnPrivateEntry&) { return cudaSuccess; });
}
cudaError_t cudaProfilerStop() {
  return call([](const KilnPrivateEntry&) { return cudaSuccess; });
}
