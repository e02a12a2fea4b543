// Graphs: lists of work.
#include <algorithm>

#include "state.h"

namespace kiln::cuda {

struct CudaGraphExecObject {
  std::vector<fake_cuda::Work> work;
  GraphHandle graph = nullptr;
};

}  // namespace kiln::cuda

namespace kiln::fake_cuda {
void leave_capture(const std::shared_ptr<Capture>& capture);
}

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::GraphExecHandle;
using kiln::cuda::GraphHandle;
using kiln::cuda::StreamHandle;

namespace {

void count(int objects) {
  const std::lock_guard lock(state().mutex);
  state().live_objects += objects;
}

std::vector<Work> work_of(GraphHandle graph) {
  std::vector<Work> work;
  for (const cuda::CudaGraphNodeObject& node : graph->nodes) work.push_back(node.work);
  return work;
}

}  // namespace

extern "C" {

int cuStreamEndCapture(StreamHandle stream, GraphHandle* graph) {
  if (const int early = enter("cuStreamEndCapture")) return early;
  *graph = nullptr;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  const std::shared_ptr<Capture> capture = capture_of(stream);
  if (!capture) return cuda::kInvalidValue;
  if (capture->origin != stream) return cuda::kCaptureUnmatched;
  leave_capture(capture);
  if (capture->broken) return cuda::kCaptureInvalidated;
  *graph = capture->graph.release();
  count(+1);
  return 0;
}
int cuGraphCreate(GraphHandle* graph, unsigned) {
  if (const int early = enter("cuGraphCreate")) return early;
  *graph = new cuda::CudaGraphObject;
  count(+1);
  return 0;
}
int cuGraphDestroy(GraphHandle graph) {
  if (const int early = enter("cuGraphDestroy", Needs::kInit)) return early;
  delete graph;
  count(-1);
  return 0;
}
int cuGraphGetNodes(GraphHandle graph, cuda::GraphNodeHandle* nodes, size_t* num_nodes) {
  if (const int early = enter("cuGraphGetNodes", Needs::kInit)) return early;
  if (!nodes) return *num_nodes = graph->nodes.size(), 0;
  *num_nodes = std::min(*num_nodes, graph->nodes.size());
  for (size_t i = 0; i < *num_nodes; ++i) nodes[i] = &graph->nodes[i];
  return 0;
}
int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  if (const int early = enter("cuGraphInstantiateWithFlags")) return early;
  *exec = new cuda::CudaGraphExecObject{work_of(graph), graph};
  count(+1);
  return 0;
}
int cuGraphExecUpdate_v2(GraphExecHandle exec, GraphHandle graph, cuda::GraphUpdateResult* result) {
  if (const int early = enter("cuGraphExecUpdate_v2")) return early;
  *result = {};
  if (exec->work.size() != graph->nodes.size()) return result->result = 2, 910;
  exec->work = work_of(graph);
  return 0;
}
int cuGraphKernelNodeGetParams_v2(cuda::GraphNodeHandle node, cuda::KernelNodeParams* params) {
  if (const int early = enter("cuGraphKernelNodeGetParams_v2")) return early;
  if (!node->launch) return cuda::kInvalidValue;
  *params = {};
  params->function = node->launch->function;
  std::copy_n(node->launch->config.grid, 3, params->grid);
  std::copy_n(node->launch->config.block, 3, params->block);
  params->shared_bytes = node->launch->config.shared_bytes;
  params->arguments = node->launch->pointers.data();
  return 0;
}
int cuGraphExecKernelNodeSetParams_v2(GraphExecHandle exec, cuda::GraphNodeHandle node,
                                      const cuda::KernelNodeParams* params) {
  if (const int early = enter("cuGraphExecKernelNodeSetParams_v2")) return early;
  const auto& nodes = exec->graph->nodes;
  if (node->place >= nodes.size() || &nodes[node->place] != node || !node->launch) return cuda::kInvalidValue;
  cuda::LaunchConfig config{};
  std::copy_n(params->grid, 3, config.grid);
  std::copy_n(params->block, 3, config.block);
  config.shared_bytes = params->shared_bytes;
  std::shared_ptr<cuda::FakeLaunch> launch;
  return make_launch(config, params->function, params->arguments, launch, exec->work[node->place]);
}
int cuGraphExecDestroy(GraphExecHandle exec) {
  if (const int early = enter("cuGraphExecDestroy", Needs::kInit)) return early;
  delete exec;
  count(-1);
  return 0;
}
int cuGraphUpload(GraphExecHandle, StreamHandle) { return enter("cuGraphUpload"); }
int cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  if (const int early = enter("cuGraphLaunch")) return early;
  for (const Work& work : exec->work)
    if (const int result = submit(stream, work)) return result;
  return 0;
}

}  // extern "C"
