// Streams and host functions.
#include "state.h"

namespace kiln::cuda {

struct CudaStreamObject {
  unsigned flags = 0;
  int priority = 0;
  ContextHandle context = nullptr;
  unsigned long long id = 0;
  std::shared_ptr<fake_cuda::Capture> capture;
};

}  // namespace kiln::cuda

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::StreamHandle;

namespace {

std::map<StreamHandle, std::unique_ptr<cuda::CudaStreamObject>>& streams() {
  static auto& all = *new std::map<StreamHandle, std::unique_ptr<cuda::CudaStreamObject>>;
  return all;
}

/// Destroyed streams, whose handles come again.
std::vector<std::unique_ptr<cuda::CudaStreamObject>>& former_streams() {
  static auto& all = *new std::vector<std::unique_ptr<cuda::CudaStreamObject>>;
  return all;
}

/// A default stream's object, or the handle itself; null for a handle that is none.
StreamHandle resolve(StreamHandle stream) {
  static cuda::CudaStreamObject legacy{.id = 1}, per_thread{.id = 2};
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number <= cuda::kLegacyStream) return &legacy;
  if (number == cuda::kPerThreadStream) return &per_thread;
  const std::lock_guard lock(state().mutex);
  return streams().contains(stream) ? stream : nullptr;
}

}  // namespace

namespace kiln::fake_cuda {

bool is_stream(StreamHandle stream) { return resolve(stream) != nullptr; }
std::shared_ptr<Capture>& capture_of(StreamHandle stream) { return resolve(stream)->capture; }

thread_local unsigned long long running = 0;  // the stream whose work runs

void never_end() {
  const std::lock_guard lock(state().mutex);
  state().is_endless[current_context->device] = true;
  state().endless_streams.insert(running);
}

int submit(StreamHandle stream, Work work, std::shared_ptr<cuda::FakeLaunch> launch,
           std::shared_ptr<cuda::MemsetNodeParams> memset) {
  StreamHandle known = resolve(stream);
  if (!known) return cuda::kInvalidHandle;
  if (!known->capture) {
    if (state().endless_streams.contains(known->id)) return 0;  // its turn does not come
    running = known->id;
    return work();
  }
  if (known->capture->broken) return cuda::kCaptureInvalidated;
  Capture& capture = *known->capture;
  std::vector<cuda::GraphNodeHandle> dependencies;
  if (capture.latest) dependencies.push_back(capture.latest);
  capture.latest = &capture.graph->nodes.emplace_back(capture.graph, std::move(work), std::move(launch),
                                                      std::move(memset), std::move(dependencies));
  return 0;
}

}  // namespace kiln::fake_cuda

extern "C" {

int cuStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int priority) {
  if (const int early = enter("cuStreamCreateWithPriority")) return early;
  const std::lock_guard lock(state().mutex);
  auto& former = former_streams();
  auto made = former.empty() ? std::make_unique<cuda::CudaStreamObject>() : std::move(former.back());
  if (!former.empty()) former.pop_back();
  static unsigned long long latest_id = 2;
  *made = {flags, priority, current_context, ++latest_id, nullptr};
  *stream = made.get();
  streams()[*stream] = std::move(made);
  ++state().live_objects;
  return 0;
}
int cuStreamDestroy_v2(StreamHandle stream) {
  if (const int early = enter("cuStreamDestroy_v2")) return early;
  const std::lock_guard lock(state().mutex);
  const auto at = streams().find(stream);
  if (at == streams().end()) return cuda::kInvalidHandle;
  former_streams().push_back(std::move(at->second));
  streams().erase(at);
  --state().live_objects;
  return 0;
}
int cuStreamSynchronize(StreamHandle stream) {
  if (const int early = enter("cuStreamSynchronize")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  if (const auto& capture = capture_of(stream)) {
    capture->broken = true;
    return cuda::kCaptureUnsupported;
  }
  wait_for("cuStreamSynchronize", resolve(stream)->id);
  return 0;
}
int cuStreamQuery(StreamHandle stream) {
  if (const int early = enter("cuStreamQuery")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  return state().endless_streams.contains(resolve(stream)->id) ? cuda::kNotReady : cuda::kSuccess;
}
int cuStreamGetFlags(StreamHandle stream, unsigned* flags) {
  if (const int early = enter("cuStreamGetFlags")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  *flags = resolve(stream)->flags;
  return 0;
}
int cuStreamGetPriority(StreamHandle stream, int* priority) {
  if (const int early = enter("cuStreamGetPriority")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  *priority = resolve(stream)->priority;
  return 0;
}
int cuStreamGetCtx(StreamHandle stream, cuda::ContextHandle* context) {
  if (const int early = enter("cuStreamGetCtx")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  const auto own = resolve(stream)->context;
  *context = own ? own : current_context;
  return 0;
}
int cuStreamGetId(StreamHandle stream, unsigned long long* id) {
  if (const int early = enter("cuStreamGetId")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  if (const auto& capture = capture_of(stream)) {  // as an H200's driver (580) has it
    capture->broken = true;
    return cuda::kCaptureUnsupported;
  }
  *id = resolve(stream)->id;
  return 0;
}
int cuStreamIsCapturing(StreamHandle stream, int* status) {
  if (const int early = enter("cuStreamIsCapturing")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  const auto& capture = capture_of(stream);
  *status = !capture ? cuda::kCaptureNone : capture->broken ? cuda::kCaptureBroken : cuda::kCaptureActive;
  return 0;
}
int cuStreamGetCaptureInfo_v2(StreamHandle stream, int* status, uint64_t* id, cuda::GraphHandle* graph,
                              const cuda::GraphNodeHandle** latest, size_t* num_latest) {
  if (const int early = enter("cuStreamGetCaptureInfo_v2")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  const auto& capture = capture_of(stream);
  *status = !capture ? cuda::kCaptureNone : capture->broken ? cuda::kCaptureBroken : cuda::kCaptureActive;
  if (!capture) return 0;
  if (id) *id = reinterpret_cast<uintptr_t>(capture.get());
  if (graph) *graph = capture->graph;
  if (latest) *latest = &capture->latest;
  if (num_latest) *num_latest = capture->latest ? 1 : 0;
  return 0;
}
int cuStreamBeginCapture_v2(StreamHandle stream, int mode) {
  if (const int early = enter("cuStreamBeginCapture_v2")) return early;
  if (!is_stream(stream)) return cuda::kInvalidHandle;
  if (reinterpret_cast<uintptr_t>(stream) <= cuda::kLegacyStream) return cuda::kCaptureUnsupported;
  auto& capture = capture_of(stream);
  if (capture) return cuda::kInvalidValue;
  capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->own_graph = std::make_unique<cuda::CudaGraphObject>();
  capture->graph = capture->own_graph.get();
  if (mode != cuda::kCaptureRelaxed) strict_captures.push_back(capture);
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  if (const int early = enter("cuThreadExchangeStreamCaptureMode", Needs::kInit)) return early;
  std::swap(*mode, capture_mode);
  return 0;
}
int cuLaunchHostFunc(StreamHandle stream, void (*work)(void*), void* argument) {
  if (const int early = enter("cuLaunchHostFunc")) return early;
  if (!work) return cuda::kInvalidValue;
  return submit(stream, [=] {
    in_host_function = true;
    work(argument);
    in_host_function = false;
    return 0;
  });
}

}  // extern "C"

namespace kiln::fake_cuda {

/// Streams that joined `capture` are free of it again.
void leave_capture(const std::shared_ptr<Capture>& capture) {
  const std::lock_guard lock(state().mutex);
  for (auto& [handle, stream] : streams())
    if (stream->capture == capture) stream->capture.reset();
  auto& per_thread = capture_of(reinterpret_cast<StreamHandle>(cuda::kPerThreadStream));
  if (per_thread == capture) per_thread.reset();
}

}  // namespace kiln::fake_cuda
