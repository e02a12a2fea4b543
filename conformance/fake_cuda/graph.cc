// Graphs: lists of work.
#include "state.h"

namespace kiln::cuda {

struct CudaGraphObject {
  std::vector<fake_cuda::Work> work;
};
struct CudaGraphExecObject {
  std::vector<fake_cuda::Work> work;
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
  *graph = new cuda::CudaGraphObject{capture->work};
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
int cuGraphGetNodes(GraphHandle graph, cuda::GraphNodeHandle*, size_t* num_nodes) {
  if (const int early = enter("cuGraphGetNodes", Needs::kInit)) return early;
  *num_nodes = graph->work.size();
  return 0;
}
int cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  if (const int early = enter("cuGraphInstantiateWithFlags")) return early;
  *exec = new cuda::CudaGraphExecObject{graph->work};
  count(+1);
  return 0;
}
int cuGraphExecUpdate_v2(GraphExecHandle exec, GraphHandle graph, cuda::GraphUpdateResult* result) {
  if (const int early = enter("cuGraphExecUpdate_v2")) return early;
  *result = {};
  if (exec->work.size() != graph->work.size()) return result->result = 2, 910;
  exec->work = graph->work;
  return 0;
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
