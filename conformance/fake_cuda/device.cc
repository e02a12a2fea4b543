// Start, devices, primary contexts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "state.h"

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::ContextHandle;

namespace {

int context_ordinal(ContextHandle context) { return context->device; }

/// An H200's, roughly.
int attribute(int which) {
  switch (which) {
    case cuda::kMaxThreadsPerBlock: return 1024;
    case cuda::kSharedBytesPerBlock: return 48 << 10;
    case cuda::kWarpSize: return 32;
    case cuda::kRegistersPerBlock: return 65536;
    case cuda::kClockKhz: return 1'980'000;
    case cuda::kNumMultiprocessors: return 132;
    case cuda::kMemoryClockKhz: return 3'201'000;
    case cuda::kMemoryBusBits: return 6144;
    case cuda::kL2Bytes: return 60 << 20;
    case cuda::kThreadsPerMultiprocessor: return 2048;
    case cuda::kComputeMajor: return state().compute_major;
    case cuda::kComputeMinor: return state().compute_minor;
    case cuda::kSharedBytesPerMultiprocessor: return 228 << 10;
    case cuda::kRegistersPerMultiprocessor: return 65536;
    case cuda::kSharedBytesPerBlockOptin: return 227 << 10;
    case cuda::kBlocksPerMultiprocessor: return 32;
    case cuda::kMemoryPoolsSupported: return 1;
    default: return 0;
  }
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (const int early = enter("cuInit", Needs::kNothing)) return early;
  // For programs that cannot reach the controls: "devices=0", "version=11040".
  if (const char* text = std::getenv("KILN_FAKE_CUDA")) std::sscanf(text, "devices=%d", &state().num_devices);
  if (state().num_devices == 0) return cuda::kNoDevice;
  state().started = true;
  return 0;
}
int cuDriverGetVersion(int* version) {
  if (const int early = enter("cuDriverGetVersion", Needs::kNothing)) return early;
  *version = state().version;
  if (const char* text = std::getenv("KILN_FAKE_CUDA")) std::sscanf(text, "version=%d", version);
  return 0;
}
int cuGetErrorName(int result, const char** text) {
  switch (result) {
    case 0: *text = "CUDA_SUCCESS"; return 0;
    case cuda::kInvalidValue: *text = "CUDA_ERROR_INVALID_VALUE"; return 0;
    case cuda::kOutOfDeviceMemory: *text = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
    case cuda::kInvalidContext: *text = "CUDA_ERROR_INVALID_CONTEXT"; return 0;
    case cuda::kIllegalAddress: *text = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
    case cuda::kLaunchFailed: *text = "CUDA_ERROR_LAUNCH_FAILED"; return 0;
    case cuda::kOutOfLaunchResources: *text = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"; return 0;
    default: *text = nullptr; return cuda::kInvalidValue;
  }
}
int cuGetErrorString(int result, const char** text) {
  *text = result == cuda::kOutOfDeviceMemory ? "out of memory" : nullptr;
  return *text ? 0 : cuda::kInvalidValue;
}

int cuDeviceGetCount(int* count) {
  if (const int early = enter("cuDeviceGetCount", Needs::kInit)) return early;
  *count = state().num_devices;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  if (const int early = enter("cuDeviceGet", Needs::kInit)) return early;
  if (ordinal < 0 || ordinal >= state().num_devices) return cuda::kInvalidDevice;
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  if (const int early = enter("cuDeviceGetName", Needs::kInit)) return early;
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU");
  return 0;
}
int cuDeviceGetUuid_v2(cuda::Uuid* uuid, int device) {
  if (const int early = enter("cuDeviceGetUuid_v2", Needs::kInit)) return early;
  std::memset(uuid, 0, sizeof *uuid);
  uuid->bytes[15] = static_cast<unsigned char>(device + 1);
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  if (const int early = enter("cuDeviceTotalMem_v2", Needs::kInit)) return early;
  *bytes = size_t{16} << 30;
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  if (const int early = enter("cuDeviceGetAttribute", Needs::kInit)) return early;
  if (device < 0 || device >= state().num_devices) return cuda::kInvalidDevice;
  *value = attribute(which);
  return 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
  if (const int early = enter("cuDeviceGetPCIBusId", Needs::kInit)) return early;
  std::snprintf(id, static_cast<size_t>(size), "0000:%02X:00.0", device + 1);
  return 0;
}
int cuDeviceCanAccessPeer(int* can, int, int) {
  if (const int early = enter("cuDeviceCanAccessPeer", Needs::kInit)) return early;
  *can = 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(ContextHandle* context, int device) {
  if (const int early = enter("cuDevicePrimaryCtxRetain", Needs::kInit)) return early;
  state().contexts[device].device = device;
  ++state().contexts[device].users;
  *context = &state().contexts[device];
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  if (const int early = enter("cuDevicePrimaryCtxRelease_v2", Needs::kInit)) return early;
  if (state().contexts[device].users == 1) wait_for("cuDevicePrimaryCtxRelease_v2");
  --state().contexts[device].users;
  return 0;
}
int cuDevicePrimaryCtxReset_v2(int) { return enter("cuDevicePrimaryCtxReset_v2", Needs::kInit); }
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (const int early = enter("cuDevicePrimaryCtxGetState", Needs::kInit)) return early;
  *flags = 0;
  *active = state().contexts[device].users > 0;
  return 0;
}
int cuCtxGetCurrent(ContextHandle* context) {
  if (const int early = enter("cuCtxGetCurrent", Needs::kInit)) return early;
  *context = current_context;
  return 0;
}
int cuCtxSetCurrent(ContextHandle context) {
  if (const int early = enter("cuCtxSetCurrent", Needs::kInit)) return early;
  current_context = context;
  return 0;
}
int cuCtxGetDevice(int* device) {
  if (const int early = enter("cuCtxGetDevice")) return early;
  *device = context_ordinal(current_context);
  return 0;
}
int cuCtxSynchronize() {
  if (const int early = enter("cuCtxSynchronize")) return early;
  wait_for("cuCtxSynchronize");
  return 0;
}
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (const int early = enter("cuCtxGetStreamPriorityRange")) return early;
  *least = 0, *greatest = -5;
  return 0;
}
int cuCtxEnablePeerAccess(ContextHandle, unsigned) {
  const int early = enter("cuCtxEnablePeerAccess");
  return early ? early : static_cast<int>(cuda::kNotSupported);
}
int cuCtxDisablePeerAccess(ContextHandle) {
  const int early = enter("cuCtxDisablePeerAccess");
  return early ? early : static_cast<int>(cuda::kNotSupported);
}
int cuCtxGetLimit(size_t* value, int) {
  if (const int early = enter("cuCtxGetLimit")) return early;
  *value = 1024;
  return 0;
}
int cuCtxSetLimit(int, size_t) { return enter("cuCtxSetLimit"); }

}  // extern "C"
