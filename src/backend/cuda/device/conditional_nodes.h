/// Conditional nodes of a graph: work that the GPU repeats or leaves out by itself, as bytes of its memory say. Drivers
/// have them from CUDA 12.4 on.
#pragma once

#include "backend/cuda/device/cuda_device.h"

namespace kiln::cuda {

/// CUgraphConditionalNodeType
enum ConditionalType : int { kConditionalIf = 0, kConditionalWhile = 1 };
inline constexpr unsigned kAssignDefault = 1;    // CU_GRAPH_COND_ASSIGN_DEFAULT
inline constexpr unsigned kSetDependencies = 1;  // CU_STREAM_SET_CAPTURE_DEPENDENCIES

struct ConditionalNodeParams {  // CUgraphNodeParams of a conditional node
  int type = 13;                // CU_GRAPH_NODE_TYPE_CONDITIONAL
  int reserved0[3] = {};
  union {
    long long padding[29] = {};
    struct {
      uint64_t handle;
      int type;
      unsigned size;        ///< how many graphs
      GraphHandle* graphs;  ///< written by the driver
      ContextHandle context;
    } conditional;
  };
  long long reserved2 = 0;
};

/// The driver's calls; fails (kUnsupported) where it lacks them.
struct ConditionalCalls {
  int (*handle_create)(uint64_t* handle, GraphHandle graph, ContextHandle context, unsigned value, unsigned flags);
  int (*add_node)(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies, size_t count,
                  ConditionalNodeParams* params);
  int (*begin_capture_to_graph)(StreamHandle stream, GraphHandle graph, const GraphNodeHandle* dependencies,
                                const void* edges, size_t count, int mode);
  int (*update_capture_dependencies)(StreamHandle stream, GraphNodeHandle* dependencies, size_t count, unsigned flags);

  static constexpr int kOldestVersion = 12040;
  static Result<std::shared_ptr<ConditionalCalls>> create(CudaDevice& device);
};

/// Arguments of the kernel "begin_loop": it counts a loop's iterations.
struct BeginLoop {
  uint64_t turns;  ///< address of the iteration's number, which becomes 0, and of their count
  uint64_t asked;  ///< address of how many are asked for; 0: `most`
  int64_t most;
  uint64_t starts;  ///< address of a boolean: false makes the count 0; 0: there is none
  uint64_t handle;
  uint32_t asked_bytes;
  uint32_t sets;  ///< whether the handle is set
};

/// Arguments of the kernel "turn_loop": it copies what iterations copy, moves to the next, and says whether it runs.
struct TurnLoop {
  struct Copy {
    uint64_t to, from, units;
    int64_t to_step, from_step;
    uint64_t unit_bytes;  ///< 16, 4 or 1
  };
  static constexpr size_t kMostCopies = 20;
  static constexpr unsigned kThreads = 512, kFewThreads = 64;
  Copy copies[kMostCopies];
  uint64_t turns;
  uint64_t goes_on, tested;  ///< addresses of booleans; 0: true
  uint64_t handle;           ///< 0: none is set
  uint32_t num_still;        ///< copies whose steps are 0: the first
  uint32_t num_moving;       ///< the others, which no iteration beyond the last makes
  uint32_t moves;            ///< whether the iteration's number grows
  uint32_t padding;
};

/// Arguments of the kernel "choose_branch".
struct ChooseBranch {
  uint64_t condition;          ///< address of a boolean
  uint64_t if_true, if_false;  ///< handles; 0: none
};

/// The text of the kernels, for a GPU with or without programmatic launches.
std::string conditional_kernels(bool programmatic);

}  // namespace kiln::cuda
