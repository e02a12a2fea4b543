/// Memset nodes of a graph that is replayed: kernels in their place. A graph of kernels alone is launched in 2 us, one
/// with eight memsets among sixty kernels in 30 (an H200's driver, 580); libraries clear their workspaces so.
#pragma once

#include <optional>

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

struct MemsetNodeParams {  // CUDA_MEMSET_NODE_PARAMS
  DevicePointer to;
  size_t pitch;  ///< in bytes; of one row it says nothing
  unsigned value, element_bytes;
  size_t width, height;  ///< in elements
};

/// CUgraphNodeType
enum GraphNodeType : int { kKernelNode = 0, kMemsetNode = 2 };

/// The calls that change a graph, which Kiln does without where the driver lacks them. Edges are those without data: a
/// node that has others is refused, and kept.
struct GraphCalls {
  int (*node_get_type)(GraphNodeHandle node, int* type);
  int (*memset_node_get_params)(GraphNodeHandle node, MemsetNodeParams* params);
  int (*node_get_dependencies)(GraphNodeHandle node, GraphNodeHandle* nodes, size_t* count);
  int (*node_get_dependents)(GraphNodeHandle node, GraphNodeHandle* nodes, size_t* count);
  int (*add_kernel_node)(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies, size_t count,
                         const KernelNodeParams* params);
  int (*add_dependencies)(GraphHandle graph, const GraphNodeHandle* from, const GraphNodeHandle* to, size_t count);
  int (*destroy_node)(GraphNodeHandle node);

  static Result<std::shared_ptr<GraphCalls>> create(CudaDevice& device);
};

/// Arguments and grid of the kernel.
struct MemsetLaunch {
  static constexpr unsigned kThreads = 256;
  uint64_t to, pitch, word, unit_bytes, width, height;  ///< width in units
  unsigned grid[3];
};
/// The launch that writes what the node does; none where the node is of a kind that we have not met.
std::optional<MemsetLaunch> memset_launch(const MemsetNodeParams& node);

/// Puts kernels in the place of a graph's memsets. A node that is not understood stays, and all do where the driver
/// assembles no kernel.
void replace_memset_nodes(CudaDevice& device, GraphHandle graph);

}  // namespace kiln::cuda
