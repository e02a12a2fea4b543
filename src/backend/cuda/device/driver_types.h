/// Types and numbers of the driver API that Driver's functions take. NVIDIA's names are beside what is not obvious.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln::cuda {

using DevicePointer = unsigned long long;  // CUdeviceptr
using ContextHandle = struct CudaContextObject*;
using StreamHandle = struct CudaStreamObject*;
using EventHandle = struct CudaEventObject*;
using GraphHandle = struct CudaGraphObject*;
using GraphNodeHandle = struct CudaGraphNodeObject*;
using GraphExecHandle = struct CudaGraphExecObject*;
using ModuleHandle = struct CudaModuleObject*;
using FunctionHandle = struct CudaFunctionObject*;

/// Handles of default streams; 0 is the legacy one.
constexpr uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

/// CUresult, as far as we tell them apart.
enum DriverResult : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfDeviceMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kUnsupportedPtxVersion = 222,
  kNameNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfLaunchResources = 701,
  kLaunchFailed = 719,
  kNotPermitted = 800,
  kNotSupported = 801,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
  kInvalidHandle = 400,
};

/// CUdevice_attribute; cudaDeviceAttr has the same numbers.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kSharedBytesPerBlock = 8,
  kWarpSize = 10,
  kRegistersPerBlock = 12,
  kClockKhz = 13,
  kNumMultiprocessors = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedBytesPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedBytesPerBlockOptin = 97,
  kBlocksPerMultiprocessor = 106,
  kPageableMemoryAccess = 88,
  kMemoryPoolsSupported = 115,
};

/// CUfunction_attribute
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicSharedBytes = 8,
  kFunctionNonPortableCluster = 14,
};

/// CUpointer_attribute
enum PointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerDevice = 3,
  kPointerHost = 4,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9
};
enum MemoryType : int { kMemoryHost = 1, kMemoryDevice = 2, kMemoryArray = 3, kMemoryUnified = 4 };

enum StreamFlag : unsigned { kStreamDefault = 0, kStreamNonBlocking = 1 };
enum EventFlag : unsigned { kEventBlockingSync = 1, kEventNoTiming = 2 };
enum EventRecordFlag : unsigned { kEventRecordExternal = 1 };
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureBroken = 2 };

struct Uuid {  // CUuuid
  unsigned char bytes[16];
};

struct Copy2d {  // CUDA_MEMCPY2D
  size_t from_x_bytes, from_y;
  int from_type;  ///< MemoryType
  const void* from_host;
  DevicePointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x_bytes, to_y;
  int to_type;
  void* to_host;
  DevicePointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width_bytes, height;
};

struct GraphUpdateResult {  // CUgraphExecUpdateResultInfo
  int result;
  GraphNodeHandle error_node, error_from_node;
};

/// CUlaunchAttributeID
enum LaunchAttributeId : int { kLaunchCluster = 4, kLaunchProgrammaticSerialization = 6 };
struct LaunchAttribute {  // CUlaunchAttribute
  int id;
  int padding;
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic_serialization;
    uint64_t aligned;
  };
};
struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned num_attributes;
};

struct KernelNodeParams {  // CUDA_KERNEL_NODE_PARAMS_v2
  FunctionHandle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;  ///< where function is null
  ContextHandle context;
};

/// The map that a TMA load reads through; a kernel takes it as a __grid_constant__ argument.
struct alignas(128) TensorMap {  // CUtensorMap
  uint64_t opaque[16];
};
/// CUtensorMapDataType
enum TensorMapType : int {
  kMapU8 = 0,
  kMapU16 = 1,
  kMapU32 = 2,
  kMapI32 = 3,
  kMapU64 = 4,
  kMapI64 = 5,
  kMapF16 = 6,
  kMapF32 = 7,
  kMapF64 = 8,
  kMapBF16 = 9,
  kMapTF32 = 11
};
enum TensorMapSwizzle : int { kSwizzleNone = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3 };
enum TensorMapL2 : int { kL2None = 0, kL2Promote64 = 1, kL2Promote128 = 2, kL2Promote256 = 3 };
enum TensorMapBeyond : int { kBeyondZero = 0, kBeyondNan = 1 };

}  // namespace kiln::cuda
