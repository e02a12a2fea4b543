// Graphs: work and what it waits for. Each piece of captured work waits for the one in front.
#include <algorithm>
#include <set>

#include "state.h"

namespace kiln::cuda {

struct CudaGraphExecObject {
  std::vector<GraphNodeHandle> nodes;  ///< in the order in which they run
  std::vector<fake_cuda::Work> work;   ///< theirs
};

}  // namespace kiln::cuda

namespace kiln::fake_cuda {
void leave_capture(const std::shared_ptr<Capture>& capture);
}

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::GraphExecHandle;
using kiln::cuda::GraphHandle;
using kiln::cuda::GraphNodeHandle;
using kiln::cuda::StreamHandle;

namespace {

void count(int objects) {
  const std::lock_guard lock(state().mutex);
  state().live_objects += objects;
}

/// All nodes, each behind those that it waits for. Of several that might run the latest does: a dependency that is lost
/// shows. Empty where nodes wait for each other.
std::vector<GraphNodeHandle> order_of(GraphHandle graph) {
  std::vector<GraphNodeHandle> waiting, order;
  for (cuda::CudaGraphNodeObject& node : graph->nodes) waiting.push_back(&node);
  std::set<GraphNodeHandle> done;
  while (!waiting.empty()) {
    const auto ready = std::find_if(waiting.rbegin(), waiting.rend(), [&](GraphNodeHandle node) {
      return std::ranges::all_of(node->dependencies, [&](GraphNodeHandle before) { return done.contains(before); });
    });
    if (ready == waiting.rend()) return {};
    order.push_back(*ready);
    done.insert(*ready);
    waiting.erase(std::next(ready).base());
  }
  return order;
}

std::vector<Work> work_of(const std::vector<GraphNodeHandle>& nodes) {
  std::vector<Work> work;
  for (const GraphNodeHandle node : nodes) work.push_back(node->work);
  return work;
}

/// What functions that give nodes do: say how many there are, then give them.
int give(const std::vector<GraphNodeHandle>& all, GraphNodeHandle* nodes, size_t* num_nodes) {
  if (nodes) std::copy_n(all.begin(), std::min(*num_nodes, all.size()), nodes);
  *num_nodes = nodes ? std::min(*num_nodes, all.size()) : all.size();
  return 0;
}

/// The launch that a kernel node's parameters describe, and its work.
int make_launch(const cuda::KernelNodeParams& params, std::shared_ptr<cuda::FakeLaunch>& launch, Work& work) {
  cuda::LaunchConfig config{};
  std::copy_n(params.grid, 3, config.grid);
  std::copy_n(params.block, 3, config.block);
  config.shared_bytes = params.shared_bytes;
  return fake_cuda::make_launch(config, params.function, params.arguments, launch, work);
}

}  // namespace

std::vector<Work> kiln::fake_cuda::work_in_order(GraphHandle graph) { return work_of(order_of(graph)); }

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
  *graph = capture->graph;
  if (capture->own_graph.release()) count(+1);
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
int cuGraphGetNodes(GraphHandle graph, GraphNodeHandle* nodes, size_t* num_nodes) {
  if (const int early = enter("cuGraphGetNodes", Needs::kInit)) return early;
  std::vector<GraphNodeHandle> all;
  for (cuda::CudaGraphNodeObject& node : graph->nodes) all.push_back(&node);
  return give(all, nodes, num_nodes);
}
int cuGraphNodeGetType(GraphNodeHandle node, int* type) {
  if (const int early = enter("cuGraphNodeGetType", Needs::kInit)) return early;
  constexpr int kHostNode = 3;
  *type = node->launch ? int{cuda::kKernelNode} : node->memset ? int{cuda::kMemsetNode} : kHostNode;
  return 0;
}
int cuGraphMemsetNodeGetParams(GraphNodeHandle node, cuda::MemsetNodeParams* params) {
  if (const int early = enter("cuGraphMemsetNodeGetParams", Needs::kInit)) return early;
  if (!node->memset) return cuda::kInvalidValue;
  *params = *node->memset;
  return 0;
}
int cuGraphNodeGetDependencies(GraphNodeHandle node, GraphNodeHandle* nodes, size_t* num_nodes) {
  if (const int early = enter("cuGraphNodeGetDependencies", Needs::kInit)) return early;
  return give(node->dependencies, nodes, num_nodes);
}
int cuGraphNodeGetDependentNodes(GraphNodeHandle node, GraphNodeHandle* nodes, size_t* num_nodes) {
  if (const int early = enter("cuGraphNodeGetDependentNodes", Needs::kInit)) return early;
  std::vector<GraphNodeHandle> all;
  for (cuda::CudaGraphNodeObject& other : node->graph->nodes)
    if (std::ranges::find(other.dependencies, node) != other.dependencies.end()) all.push_back(&other);
  return give(all, nodes, num_nodes);
}
int cuGraphAddDependencies(GraphHandle, const GraphNodeHandle* from, const GraphNodeHandle* to, size_t count) {
  if (const int early = enter("cuGraphAddDependencies", Needs::kInit)) return early;
  for (size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
  return 0;
}
int cuGraphAddKernelNode_v2(GraphNodeHandle* node, GraphHandle graph, const GraphNodeHandle* dependencies, size_t count,
                            const cuda::KernelNodeParams* params) {
  if (const int early = enter("cuGraphAddKernelNode_v2")) return early;
  cuda::CudaGraphNodeObject made{.graph = graph, .dependencies = {dependencies, dependencies + count}};
  if (const int refused = make_launch(*params, made.launch, made.work)) return refused;
  *node = &graph->nodes.emplace_back(std::move(made));
  return 0;
}
int cuGraphDestroyNode(GraphNodeHandle node) {
  if (const int early = enter("cuGraphDestroyNode", Needs::kInit)) return early;
  auto& nodes = node->graph->nodes;
  for (cuda::CudaGraphNodeObject& other : nodes) std::erase(other.dependencies, node);
  nodes.remove_if([&](const cuda::CudaGraphNodeObject& other) { return &other == node; });
  return 0;
}
int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  if (const int early = enter("cuGraphInstantiateWithFlags")) return early;
  const std::vector<GraphNodeHandle> nodes = order_of(graph);
  if (nodes.size() != graph->nodes.size()) return cuda::kInvalidValue;
  *exec = new cuda::CudaGraphExecObject{nodes, work_of(nodes)};
  count(+1);
  return 0;
}
int cuGraphExecUpdate_v2(GraphExecHandle exec, GraphHandle graph, cuda::GraphUpdateResult* result) {
  if (const int early = enter("cuGraphExecUpdate_v2")) return early;
  *result = {};
  if (exec->work.size() != graph->nodes.size()) return result->result = 2, 910;
  exec->work = work_of(order_of(graph));
  return 0;
}
int cuGraphKernelNodeGetParams_v2(GraphNodeHandle node, cuda::KernelNodeParams* params) {
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
int cuGraphExecKernelNodeSetParams_v2(GraphExecHandle exec, GraphNodeHandle node,
                                      const cuda::KernelNodeParams* params) {
  if (const int early = enter("cuGraphExecKernelNodeSetParams_v2")) return early;
  const auto place = std::ranges::find(exec->nodes, node) - exec->nodes.begin();
  if (place == std::ssize(exec->nodes) || !node->launch) return cuda::kInvalidValue;
  std::shared_ptr<cuda::FakeLaunch> launch;
  return make_launch(*params, launch, exec->work[static_cast<size_t>(place)]);
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
