// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Facts of CUDA 13.0's host API about kernels, variables and vectors; the rest is in cuda_facts.cc.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <type_traits>

#define SAME(function, ...) static_assert(std::is_same<decltype(&function), __VA_ARGS__>::value, #function)
#define VALUE(name, number) static_assert(static_cast<long long>(name) == (number), #name)
#define MEMBER(type, name, member_type, at)                                                             \
  static_assert(offsetof(type, name) == (at) && std::is_same<decltype(type::name), member_type>::value, \
                #type "::" #name)
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)

// Kernels and variables of .cu files
SAME(cudaLaunchKernelExC, cudaError_t (*)(const cudaLaunchConfig_t*, const void*, void**));
SAME(cudaLaunchCooperativeKernel, cudaError_t (*)(const void*, dim3, dim3, void**, size_t, cudaStream_t));
SAME(cudaFuncGetAttributes, cudaError_t (*)(struct cudaFuncAttributes*, const void*));
SAME(cudaFuncSetAttribute, cudaError_t (*)(const void*, enum cudaFuncAttribute, int));
SAME(cudaFuncSetCacheConfig, cudaError_t (*)(const void*, enum cudaFuncCache));
SAME(cudaFuncGetName, cudaError_t (*)(const char**, const void*));
SAME(cudaGetFuncBySymbol, cudaError_t (*)(cudaFunction_t*, const void*));
SAME(cudaGetKernel, cudaError_t (*)(cudaKernel_t*, const void*));
SAME(cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaError_t (*)(int*, const void*, int, size_t));
SAME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     cudaError_t (*)(int*, const void*, int, size_t, unsigned int));
SAME(cudaOccupancyAvailableDynamicSMemPerBlock, cudaError_t (*)(size_t*, const void*, int, int));
SAME(cudaOccupancyMaxActiveClusters, cudaError_t (*)(int*, const void*, const cudaLaunchConfig_t*));
SAME(cudaOccupancyMaxPotentialClusterSize, cudaError_t (*)(int*, const void*, const cudaLaunchConfig_t*));
SAME(cudaGetSymbolAddress, cudaError_t (*)(void**, const void*));
SAME(cudaGetSymbolSize, cudaError_t (*)(size_t*, const void*));
SAME(cudaMemcpyToSymbol, cudaError_t (*)(const void*, const void*, size_t, size_t, enum cudaMemcpyKind));
SAME(cudaMemcpyFromSymbol, cudaError_t (*)(void*, const void*, size_t, size_t, enum cudaMemcpyKind));
SAME(cudaMemcpyToSymbolAsync,
     cudaError_t (*)(const void*, const void*, size_t, size_t, enum cudaMemcpyKind, cudaStream_t));
SAME(cudaMemcpyFromSymbolAsync, cudaError_t (*)(void*, const void*, size_t, size_t, enum cudaMemcpyKind, cudaStream_t));

VALUE(cudaOccupancyDefault, 0);
VALUE(cudaOccupancyDisableCachingOverride, 1);
VALUE(cudaFuncAttributeMaxDynamicSharedMemorySize, 8);
VALUE(cudaFuncAttributePreferredSharedMemoryCarveout, 9);
VALUE(cudaFuncAttributeClusterDimMustBeSet, 10);
VALUE(cudaFuncAttributeRequiredClusterWidth, 11);
VALUE(cudaFuncAttributeRequiredClusterHeight, 12);
VALUE(cudaFuncAttributeRequiredClusterDepth, 13);
VALUE(cudaFuncAttributeNonPortableClusterSizeAllowed, 14);
VALUE(cudaFuncAttributeClusterSchedulingPolicyPreference, 15);
VALUE(cudaFuncAttributeMax, 16);
VALUE(cudaFuncCachePreferNone, 0);
VALUE(cudaFuncCachePreferShared, 1);
VALUE(cudaFuncCachePreferL1, 2);
VALUE(cudaFuncCachePreferEqual, 3);
VALUE(cudaAccessPropertyNormal, 0);
VALUE(cudaAccessPropertyStreaming, 1);
VALUE(cudaAccessPropertyPersisting, 2);
VALUE(cudaSyncPolicyAuto, 1);
VALUE(cudaSyncPolicySpin, 2);
VALUE(cudaSyncPolicyYield, 3);
VALUE(cudaSyncPolicyBlockingSync, 4);
VALUE(cudaClusterSchedulingPolicyDefault, 0);
VALUE(cudaClusterSchedulingPolicySpread, 1);
VALUE(cudaClusterSchedulingPolicyLoadBalancing, 2);
VALUE(cudaLaunchAttributeIgnore, 0);
VALUE(cudaLaunchAttributeAccessPolicyWindow, 1);
VALUE(cudaLaunchAttributeCooperative, 2);
VALUE(cudaLaunchAttributeSynchronizationPolicy, 3);
VALUE(cudaLaunchAttributeClusterDimension, 4);
VALUE(cudaLaunchAttributeClusterSchedulingPolicyPreference, 5);
VALUE(cudaLaunchAttributeProgrammaticStreamSerialization, 6);
VALUE(cudaLaunchAttributeProgrammaticEvent, 7);
VALUE(cudaLaunchAttributePriority, 8);

SIZE(cudaFuncAttributes, 144);
MEMBER(cudaFuncAttributes, sharedSizeBytes, size_t, 0);
MEMBER(cudaFuncAttributes, constSizeBytes, size_t, 8);
MEMBER(cudaFuncAttributes, localSizeBytes, size_t, 16);
MEMBER(cudaFuncAttributes, maxThreadsPerBlock, int, 24);
MEMBER(cudaFuncAttributes, numRegs, int, 28);
MEMBER(cudaFuncAttributes, ptxVersion, int, 32);
MEMBER(cudaFuncAttributes, binaryVersion, int, 36);
MEMBER(cudaFuncAttributes, cacheModeCA, int, 40);
MEMBER(cudaFuncAttributes, maxDynamicSharedSizeBytes, int, 44);
MEMBER(cudaFuncAttributes, preferredShmemCarveout, int, 48);
MEMBER(cudaFuncAttributes, clusterDimMustBeSet, int, 52);
MEMBER(cudaFuncAttributes, requiredClusterWidth, int, 56);
MEMBER(cudaFuncAttributes, requiredClusterHeight, int, 60);
MEMBER(cudaFuncAttributes, requiredClusterDepth, int, 64);
MEMBER(cudaFuncAttributes, clusterSchedulingPolicyPreference, int, 68);
MEMBER(cudaFuncAttributes, nonPortableClusterSizeAllowed, int, 72);

SIZE(cudaLaunchConfig_t, 56);
MEMBER(cudaLaunchConfig_t, gridDim, dim3, 0);
MEMBER(cudaLaunchConfig_t, blockDim, dim3, 12);
MEMBER(cudaLaunchConfig_t, dynamicSmemBytes, size_t, 24);
MEMBER(cudaLaunchConfig_t, stream, cudaStream_t, 32);
MEMBER(cudaLaunchConfig_t, attrs, cudaLaunchAttribute*, 40);
MEMBER(cudaLaunchConfig_t, numAttrs, unsigned int, 48);

SIZE(cudaLaunchAttribute, 72);
MEMBER(cudaLaunchAttribute, id, cudaLaunchAttributeID, 0);
MEMBER(cudaLaunchAttribute, val, cudaLaunchAttributeValue, 8);
SIZE(cudaLaunchAttributeValue, 64);
SIZE(cudaAccessPolicyWindow, 32);

#define VECTOR(type, element, count, bytes)                                                    \
  static_assert(sizeof(type) == sizeof(element) * (count) && alignof(type) == (bytes), #type); \
  static_assert(std::is_same<decltype(type::x), element>::value, #type)
VECTOR(char1, signed char, 1, 1);
VECTOR(char2, signed char, 2, 2);
VECTOR(char3, signed char, 3, 1);
VECTOR(char4, signed char, 4, 4);
VECTOR(uchar1, unsigned char, 1, 1);
VECTOR(uchar2, unsigned char, 2, 2);
VECTOR(uchar3, unsigned char, 3, 1);
VECTOR(uchar4, unsigned char, 4, 4);
VECTOR(short1, short, 1, 2);
VECTOR(short2, short, 2, 4);
VECTOR(short3, short, 3, 2);
VECTOR(short4, short, 4, 8);
VECTOR(ushort1, unsigned short, 1, 2);
VECTOR(ushort2, unsigned short, 2, 4);
VECTOR(ushort3, unsigned short, 3, 2);
VECTOR(ushort4, unsigned short, 4, 8);
VECTOR(int1, int, 1, 4);
VECTOR(int2, int, 2, 8);
VECTOR(int3, int, 3, 4);
VECTOR(int4, int, 4, 16);
VECTOR(uint1, unsigned int, 1, 4);
VECTOR(uint2, unsigned int, 2, 8);
VECTOR(uint3, unsigned int, 3, 4);
VECTOR(uint4, unsigned int, 4, 16);
VECTOR(long1, long, 1, 8);
VECTOR(long2, long, 2, 16);
VECTOR(long3, long, 3, 8);
VECTOR(long4_16a, long, 4, 16);
VECTOR(long4_32a, long, 4, 32);
VECTOR(ulong1, unsigned long, 1, 8);
VECTOR(ulong2, unsigned long, 2, 16);
VECTOR(ulong3, unsigned long, 3, 8);
VECTOR(ulong4_16a, unsigned long, 4, 16);
VECTOR(ulong4_32a, unsigned long, 4, 32);
VECTOR(longlong1, long long, 1, 8);
VECTOR(longlong2, long long, 2, 16);
VECTOR(longlong3, long long, 3, 8);
VECTOR(longlong4_16a, long long, 4, 16);
VECTOR(longlong4_32a, long long, 4, 32);
VECTOR(ulonglong1, unsigned long long, 1, 8);
VECTOR(ulonglong2, unsigned long long, 2, 16);
VECTOR(ulonglong3, unsigned long long, 3, 8);
VECTOR(ulonglong4_16a, unsigned long long, 4, 16);
VECTOR(ulonglong4_32a, unsigned long long, 4, 32);
VECTOR(float1, float, 1, 4);
VECTOR(float2, float, 2, 8);
VECTOR(float3, float, 3, 4);
VECTOR(float4, float, 4, 16);
VECTOR(double1, double, 1, 8);
VECTOR(double2, double, 2, 16);
VECTOR(double3, double, 3, 8);
VECTOR(double4_16a, double, 4, 16);
VECTOR(double4_32a, double, 4, 32);
