// Captured work. A graph never changes; one that was made ready is a second handle to the same work.
#include <map>
#include <mutex>

#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

/// Graphs that were made ready, and the library's handles of what they run.
struct Execs {
  std::mutex mutex;
  std::map<cudaGraphExec_t, void*> graphs;
};
Execs& execs() {
  static Execs& all = *new Execs;
  return all;
}

void* graph_of(cudaGraphExec_t exec) {
  const std::lock_guard lock(execs().mutex);
  const auto at = execs().graphs.find(exec);
  return at == execs().graphs.end() ? nullptr : at->second;
}

bool is_mode(cudaStreamCaptureMode mode) {
  return mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed;
}

cudaError_t begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const auto on_gpu = [&](const Driver& gpu) {
    return is_mode(mode) ? gpu.stream_begin_capture(on(stream), mode) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!is_mode(mode)) return cudaErrorInvalidValue;
    const KilnStatus begun = kiln.stream.begin_capture(stream);
    return begun == kKilnUnsupported ? cudaErrorStreamCaptureUnsupported : to_cuda(begun, cudaErrorIllegalState);
  });
}

cudaError_t end_capture(cudaStream_t stream, cudaGraph_t* graph) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!graph) return cudaErrorInvalidValue;
    return gpu.stream_end_capture(on(stream), reinterpret_cast<kiln::cuda::GraphHandle*>(graph));
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!graph) return cudaErrorInvalidValue;
    KilnCaptureState state = kKilnCaptureNone;
    if (const KilnStatus known = kiln.stream.capture_state(stream, &state); known != kKilnOk) return to_cuda(known);
    void* captured = nullptr;
    const KilnStatus ended = kiln.stream.end_capture(stream, &captured);
    *graph = static_cast<cudaGraph_t>(captured);
    return to_cuda(
        ended, state == kKilnCaptureInvalidated ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnmatched);
  });
}

cudaError_t is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!status) return cudaErrorInvalidValue;
    int state = 0;
    const int known = gpu.stream_is_capturing(on(stream), &state);
    *status = static_cast<cudaStreamCaptureStatus>(state);
    return known;
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!status) return cudaErrorInvalidValue;
    KilnCaptureState state = kKilnCaptureNone;
    if (const KilnStatus known = kiln.stream.capture_state(stream, &state); known != kKilnOk) return to_cuda(known);
    *status = static_cast<cudaStreamCaptureStatus>(state);
    return cudaSuccess;
  });
}

cudaError_t launch(cudaGraphExec_t exec, cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) {
    return exec ? gpu.graph_launch(on(exec), on(stream)) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    void* graph = graph_of(exec);
    if (!graph) return cudaErrorInvalidResourceHandle;
    return to_cuda(kiln.graph.launch(graph, stream), cudaErrorStreamCaptureImplicit);
  });
}

cudaError_t upload(cudaGraphExec_t exec, cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) {
    return exec ? gpu.graph_upload(on(exec), on(stream)) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    uint32_t flags = 0;
    if (const KilnStatus known = kiln.stream.flags(stream, &flags); known != kKilnOk) return to_cuda(known);
    return graph_of(exec) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!graph || flags != 0) return cudaErrorInvalidValue;
    return gpu.graph_create(reinterpret_cast<kiln::cuda::GraphHandle*>(graph), flags);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!graph || flags != 0) return cudaErrorInvalidValue;
    void* made = nullptr;
    const KilnStatus done = kiln.graph.create(&made);
    *graph = static_cast<cudaGraph_t>(made);
    return to_cuda(done);
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(
      [&](const Driver& gpu) { return graph ? gpu.graph_destroy(on(graph)) : static_cast<int>(cudaErrorInvalidValue); },
      [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.graph.destroy(graph)); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!exec || !graph) return cudaErrorInvalidValue;
    return gpu.graph_instantiate_with_flags(reinterpret_cast<kiln::cuda::GraphExecHandle*>(exec), on(graph), flags);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!exec || flags > 15) return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
      return cudaErrorNotSupported;  // there are no kernels to launch it
    void* copy = nullptr;
    if (const KilnStatus copied = kiln.graph.copy(graph, &copy); copied != kKilnOk) return to_cuda(copied);
    const std::lock_guard lock(execs().mutex);
    *exec = static_cast<cudaGraphExec_t>(copy);
    execs().graphs.emplace(*exec, copy);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!exec || !graph || !info) return cudaErrorInvalidValue;
    return gpu.graph_exec_update(on(exec), on(graph), reinterpret_cast<kiln::cuda::GraphUpdateResult*>(info));
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!info) return cudaErrorInvalidValue;
    *info = {cudaGraphExecUpdateError, nullptr, nullptr};
    void* old = graph_of(exec);
    if (!old) return cudaErrorInvalidResourceHandle;
    size_t before = 0, after = 0;
    if (const KilnStatus known = kiln.graph.num_nodes(old, &before); known != kKilnOk) return to_cuda(known);
    if (const KilnStatus known = kiln.graph.num_nodes(graph, &after); known != kKilnOk) return to_cuda(known);
    if (before != after) {
      info->result = cudaGraphExecUpdateErrorTopologyChanged;
      return cudaErrorGraphExecUpdateFailure;
    }
    void* copy = nullptr;
    if (const KilnStatus copied = kiln.graph.copy(graph, &copy); copied != kKilnOk) return to_cuda(copied);
    {
      const std::lock_guard lock(execs().mutex);
      execs().graphs[exec] = copy;
    }
    info->result = cudaGraphExecUpdateSuccess;
    return to_cuda(kiln.graph.destroy(old));
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const auto on_gpu = [&](const Driver& gpu) {
    return exec ? gpu.graph_exec_destroy(on(exec)) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    void* graph = graph_of(exec);
    if (!graph) return cudaErrorInvalidResourceHandle;
    {
      const std::lock_guard lock(execs().mutex);
      execs().graphs.erase(exec);
    }
    return to_cuda(kiln.graph.destroy(graph));
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* num_nodes) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!graph || !num_nodes) return cudaErrorInvalidValue;
    return gpu.graph_get_nodes(on(graph), reinterpret_cast<kiln::cuda::GraphNodeHandle*>(nodes), num_nodes);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!num_nodes) return cudaErrorInvalidValue;
    size_t count = 0;
    if (const KilnStatus known = kiln.graph.num_nodes(graph, &count); known != kKilnOk) return to_cuda(known);
    // No call takes a node: a name for each is enough. Past the end there are nulls.
    for (size_t i = 0; nodes && i < *num_nodes; ++i)
      nodes[i] =
          i < count ? reinterpret_cast<cudaGraphNode_t>(reinterpret_cast<uintptr_t>(graph) ^ (i + 1) << 40) : nullptr;
    *num_nodes = count;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  // The host ignores the mode: every call that a mode may forbid is safe there.
  thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!mode || !is_mode(*mode)) return cudaErrorInvalidValue;
    int number = *mode;
    const int done = gpu.thread_exchange_stream_capture_mode(&number);
    *mode = static_cast<cudaStreamCaptureMode>(number);
    return done;
  };
  return call(on_gpu, [&](const KilnPrivateEntry&) -> cudaError_t {
    if (!mode || !is_mode(*mode)) return cudaErrorInvalidValue;
    std::swap(*mode, current);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin_capture(stream, mode);
}
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin_capture(per_thread(stream), mode);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) { return end_capture(stream, graph); }
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return end_capture(per_thread(stream), graph);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return is_capturing(stream, status);
}
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return is_capturing(per_thread(stream), status);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) { return launch(exec, stream); }
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) { return launch(exec, per_thread(stream)); }
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) { return upload(exec, stream); }
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) { return upload(exec, per_thread(stream)); }
