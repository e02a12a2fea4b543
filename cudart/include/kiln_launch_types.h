// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of the calls that launch kernels and ask about them; a part of driver_types.h.

#ifndef KILN_LAUNCH_TYPES_H
#define KILN_LAUNCH_TYPES_H

#include <stddef.h>

// Flags of cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.
#define cudaOccupancyDefault 0x00                 //!< No option.
#define cudaOccupancyDisableCachingOverride 0x01  //!< Take the caches to be used as they are set.

typedef struct CUfunc_st* cudaFunction_t;  //!< A kernel in the current context.
typedef struct CUkern_st* cudaKernel_t;    //!< A kernel, for any context.

//! What is known of a kernel; sizes are in bytes.
struct cudaFuncAttributes {
  size_t sharedSizeBytes;         //!< Shared memory of a block that the kernel always has.
  size_t constSizeBytes;          //!< Constants of the program.
  size_t localSizeBytes;          //!< Local memory of a thread.
  int maxThreadsPerBlock;         //!< The most threads that a block of it can have.
  int numRegs;                    //!< Registers of a thread.
  int ptxVersion;                 //!< Of the PTX that it was made of: 10 * major + minor.
  int binaryVersion;              //!< Of the architecture that it was compiled for.
  int cacheModeCA;                //!< 1: compiled to cache globals in L1.
  int maxDynamicSharedSizeBytes;  //!< The most shared memory that a launch may add.
  int preferredShmemCarveout;     //!< Share of L1 that is to be shared memory, per cent; -1: the driver's choice.
  int clusterDimMustBeSet;        //!< 1: launched in clusters only.
  int requiredClusterWidth;       //!< Its clusters' extent along x, or 0.
  int requiredClusterHeight;      //!< Its clusters' extent along y, or 0.
  int requiredClusterDepth;       //!< Its clusters' extent along z, or 0.
  int clusterSchedulingPolicyPreference;  //!< A cudaClusterSchedulingPolicy.
  int nonPortableClusterSizeAllowed;      //!< 1: clusters larger than every device has are allowed.
  int reserved[16];                       //!< For later versions.
};

//! What cudaFuncSetAttribute sets: the members of cudaFuncAttributes that look like them.
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeClusterDimMustBeSet = 10,
  cudaFuncAttributeRequiredClusterWidth = 11,
  cudaFuncAttributeRequiredClusterHeight = 12,
  cudaFuncAttributeRequiredClusterDepth = 13,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
  cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
  cudaFuncAttributeMax = 16,
};

//! What memory beside the registers is to be: L1 cache or shared memory.
enum cudaFuncCache {
  cudaFuncCachePreferNone = 0,
  cudaFuncCachePreferShared = 1,
  cudaFuncCachePreferL1 = 2,
  cudaFuncCachePreferEqual = 3,
};

//! How long the L2 cache keeps what an access touched.
enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2,
};

//! How the host waits.
enum cudaSynchronizationPolicy {
  cudaSyncPolicyAuto = 1,
  cudaSyncPolicySpin = 2,
  cudaSyncPolicyYield = 3,
  cudaSyncPolicyBlockingSync = 4,
};

//! How the blocks of a cluster are spread.
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyDefault = 0,
  cudaClusterSchedulingPolicySpread = 1,
  cudaClusterSchedulingPolicyLoadBalancing = 2,
};

//! Memory whose accesses are treated in a way of their own.
struct cudaAccessPolicyWindow {
  void* base_ptr;                    //!< Its begin.
  size_t num_bytes;                  //!< Its size.
  float hitRatio;                    //!< Share of accesses that are treated as hitProp says; the rest as missProp says.
  enum cudaAccessProperty hitProp;   //!< For that share.
  enum cudaAccessProperty missProp;  //!< For the rest.
};

//! What an attribute of a launch is about.
typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributeProgrammaticEvent = 7,
  cudaLaunchAttributePriority = 8,
} cudaLaunchAttributeID;

//! Its value, by its ID.
typedef union cudaLaunchAttributeValue {
  char pad[64];
  struct cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;  //!< 1: all blocks run at once and may wait for each other.
  enum cudaSynchronizationPolicy syncPolicy;
  struct {
    unsigned int x, y, z;
  } clusterDim;  //!< Extents of a cluster, in blocks.
  enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;  //!< 1: may start before the kernel ahead of it has ended.
  struct {
    cudaEvent_t event;
    int flags;
    int triggerAtBlockStart;
  } programmaticEvent;
  int priority;
} cudaLaunchAttributeValue;

//! An attribute of a launch.
typedef struct cudaLaunchAttribute_st {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

//! A launch.
typedef struct cudaLaunchConfig_st {
  dim3 gridDim;                //!< Blocks.
  dim3 blockDim;               //!< Threads of a block.
  size_t dynamicSmemBytes;     //!< Shared memory that a block gets beside what the kernel always has.
  cudaStream_t stream;         //!< In whose order.
  cudaLaunchAttribute* attrs;  //!< Attributes, or null.
  unsigned int numAttrs;       //!< Their number.
} cudaLaunchConfig_t;

#endif  // KILN_LAUNCH_TYPES_H
