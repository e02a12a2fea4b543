// Our declarations beside NVIDIA's driver API, where its headers are installed (CMake defines KILN_CUDA_HEADERS then):
// the shapes of functions, and what is passed on to the driver as it is.
#include <gtest/gtest.h>

#include "backend/cuda/device/testing/same_shape.h"
#include "library_driver.h"

#ifndef KILN_CUDA_HEADERS

TEST(CudartDriverHeader, AgreesWithNvidias) { GTEST_SKIP() << "CUDA's headers are not installed"; }

#else
#include <cuda.h>

#include "cuda_runtime_api.h"

namespace kiln::cuda {
namespace {

#define SAME(ours, theirs) static_assert(kSameShape<decltype(LibraryDriver::ours), decltype(&theirs)>, #theirs)
SAME(library_load_data, cuLibraryLoadData);
SAME(library_unload, cuLibraryUnload);
SAME(library_get_kernel, cuLibraryGetKernel);
SAME(library_get_global, cuLibraryGetGlobal);
SAME(library_get_managed, cuLibraryGetManaged);
SAME(kernel_get_function, cuKernelGetFunction);
SAME(func_set_cache_config, cuFuncSetCacheConfig);
SAME(occupancy_max_active_blocks_with_flags, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags);
SAME(occupancy_available_shared_bytes, cuOccupancyAvailableDynamicSMemPerBlock);
SAME(occupancy_max_potential_cluster_size, cuOccupancyMaxPotentialClusterSize);

#define NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)
NUMBER(cudaFuncAttributeMaxDynamicSharedMemorySize, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
NUMBER(cudaFuncAttributePreferredSharedMemoryCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
NUMBER(cudaFuncAttributeClusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
NUMBER(cudaFuncAttributeRequiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
NUMBER(cudaFuncAttributeRequiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
NUMBER(cudaFuncAttributeRequiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
NUMBER(cudaFuncAttributeNonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
NUMBER(cudaFuncAttributeClusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
NUMBER(0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(1, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
NUMBER(2, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
NUMBER(3, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
NUMBER(4, CU_FUNC_ATTRIBUTE_NUM_REGS);
NUMBER(5, CU_FUNC_ATTRIBUTE_PTX_VERSION);
NUMBER(6, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
NUMBER(7, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
NUMBER(cudaFuncCachePreferShared, CU_FUNC_CACHE_PREFER_SHARED);
NUMBER(cudaFuncCachePreferL1, CU_FUNC_CACHE_PREFER_L1);
NUMBER(cudaFuncCachePreferEqual, CU_FUNC_CACHE_PREFER_EQUAL);
NUMBER(cudaOccupancyDisableCachingOverride, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
NUMBER(cudaLaunchAttributeAccessPolicyWindow, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
NUMBER(cudaLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
NUMBER(cudaLaunchAttributeClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
NUMBER(cudaLaunchAttributeClusterSchedulingPolicyPreference, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
NUMBER(cudaLaunchAttributeProgrammaticStreamSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
NUMBER(cudaLaunchAttributeProgrammaticEvent, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT);
NUMBER(cudaLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);

#define SAME_OFFSET(Ours, ours, Theirs, theirs) static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs), #theirs)
static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
SAME_OFFSET(cudaLaunchAttribute, id, CUlaunchAttribute, id);
SAME_OFFSET(cudaLaunchAttribute, val, CUlaunchAttribute, value);
SAME_OFFSET(cudaLaunchAttributeValue, programmaticEvent.triggerAtBlockStart, CUlaunchAttributeValue,
            programmaticEvent.triggerAtBlockStart);
SAME_OFFSET(cudaLaunchAttributeValue, clusterDim.z, CUlaunchAttributeValue, clusterDim.z);
static_assert(sizeof(cudaAccessPolicyWindow) == sizeof(CUaccessPolicyWindow));
SAME_OFFSET(cudaAccessPolicyWindow, missProp, CUaccessPolicyWindow, missProp);

TEST(CudartDriverHeader, AgreesWithNvidias) { SUCCEED() << "compared with CUDA " << CUDA_VERSION; }

}  // namespace
}  // namespace kiln::cuda
#endif
