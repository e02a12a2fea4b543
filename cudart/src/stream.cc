// Streams, and the program's functions on them.
#include <memory>

#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;

namespace {

bool is_default(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread; }

/// A program's function that a stream calls.
struct HostFunction {
  cudaHostFn_t function;
  cudaStreamCallback_t callback;
  cudaStream_t stream;
  void* data;

  static void run(void* argument, int32_t failed) {
    const auto& self = *static_cast<const HostFunction*>(argument);
    const InHostFunction inside;
    if (self.callback)
      self.callback(self.stream, failed ? cudaErrorLaunchFailure : cudaSuccess, self.data);
    else if (!failed)
      self.function(self.data);
  }
};

cudaError_t launch(cudaStream_t stream, HostFunction function) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!function.function && !function.callback) return cudaErrorInvalidValue;
    auto kept = std::make_unique<HostFunction>(function);
    const KilnStatus queued = kiln.stream.launch_kept(
        stream, HostFunction::run, kept.get(), [](void* argument) { delete static_cast<HostFunction*>(argument); });
    if (queued == kKilnOk) kept.release();
    return to_cuda(queued, cudaErrorStreamCaptureImplicit);
  });
}

cudaError_t add_callback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  if (!callback || flags != 0) return remember(cudaErrorInvalidValue);
  return launch(stream, {nullptr, callback, stream, data});
}

cudaError_t synchronize(cudaStream_t stream) {
  return call([&](const KilnPrivateEntry& kiln) {
    return to_cuda(kiln.stream.synchronize(stream), cudaErrorStreamCaptureUnsupported);
  });
}

cudaError_t query(cudaStream_t stream) {
  return call([&](const KilnPrivateEntry& kiln) {
    return to_cuda(kiln.stream.query(stream), cudaErrorStreamCaptureUnsupported);
  });
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (flags == cudaEventWaitExternal) return cudaErrorNotSupported;
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    return to_cuda(kiln.stream.wait_event(stream, event), cudaErrorStreamCaptureIsolation);
  });
}

cudaError_t get_priority(cudaStream_t stream, int* priority) {
  return call([&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.priority(stream, priority)); });
}

cudaError_t get_flags(cudaStream_t stream, unsigned int* flags) {
  return call([&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.flags(stream, flags)); });
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!stream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    void* made = nullptr;
    const KilnStatus done = kiln.stream.create(flags, /*priority=*/0, &made);  // the range is [0, 0]
    *stream = static_cast<cudaStream_t>(made);
    return to_cuda(done);
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (is_default(stream)) return cudaErrorInvalidResourceHandle;
    return to_cuda(kiln.stream.destroy(stream));
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronize(stream); }
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return synchronize(per_thread(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return query(stream); }
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return query(per_thread(stream)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return wait(stream, event, flags);
}
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return wait(per_thread(stream), event, flags);
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return get_priority(stream, priority); }
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return get_priority(per_thread(stream), priority);
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) { return get_flags(stream, flags); }
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return get_flags(per_thread(stream), flags);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return add_callback(stream, callback, data, flags);
}
cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                       unsigned int flags) {
  return add_callback(per_thread(stream), callback, data, flags);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return launch(stream, {function, nullptr, stream, data});
}
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return launch(per_thread(stream), {function, nullptr, stream, data});
}
