// Streams, and the program's functions on them.
#include <memory>

#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

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

/// The driver's threads call it, and learn of no failure: behind one, they call nothing.
int launch_on_gpu(const Driver& gpu, cudaStream_t stream, const HostFunction& function) {
  if (!function.function && !function.callback) return cudaErrorInvalidValue;
  if (function.function) return gpu.launch_host_func(on(stream), function.function, function.data);
  int status = kiln::cuda::kCaptureNone;
  if (const int known = gpu.stream_is_capturing(on(stream), &status)) return known;
  if (status != kiln::cuda::kCaptureNone) return cudaErrorStreamCaptureUnsupported;  // a replay would call it again
  auto* kept = new (std::nothrow) HostFunction(function);
  if (!kept) return cudaErrorMemoryAllocation;
  const int queued = gpu.launch_host_func(
      on(stream),
      [](void* argument) {
        const std::unique_ptr<HostFunction> self(static_cast<HostFunction*>(argument));
        HostFunction::run(argument, 0);
      },
      kept);
  if (queued != 0) delete kept;
  return queued;
}

cudaError_t launch(cudaStream_t stream, HostFunction function) {
  const auto on_gpu = [&](const Driver& gpu) { return launch_on_gpu(gpu, stream, function); };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
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
  const auto on_gpu = [&](const Driver& gpu) { return gpu.stream_synchronize(on(stream)); };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) {
    return to_cuda(kiln.stream.synchronize(stream), cudaErrorStreamCaptureUnsupported);
  });
}

cudaError_t query(cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) { return gpu.stream_query(on(stream)); };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) {
    return to_cuda(kiln.stream.query(stream), cudaErrorStreamCaptureUnsupported);
  });
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) { return gpu.stream_wait_event(on(stream), on(event), flags); };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (flags == cudaEventWaitExternal) return cudaErrorNotSupported;
    if (flags != cudaEventWaitDefault) return cudaErrorInvalidValue;
    return to_cuda(kiln.stream.wait_event(stream, event), cudaErrorStreamCaptureIsolation);
  });
}

cudaError_t get_priority(cudaStream_t stream, int* priority) {
  const auto on_gpu = [&](const Driver& gpu) {
    return priority ? gpu.stream_get_priority(on(stream), priority) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.priority(stream, priority)); });
}

cudaError_t get_flags(cudaStream_t stream, unsigned int* flags) {
  const auto on_gpu = [&](const Driver& gpu) {
    return flags ? gpu.stream_get_flags(on(stream), flags) : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.stream.flags(stream, flags)); });
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!stream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    return gpu.stream_create_with_priority(reinterpret_cast<kiln::cuda::StreamHandle*>(stream), flags, priority);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!stream || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    void* made = nullptr;
    const KilnStatus done = kiln.stream.create(flags, /*priority=*/0, &made);  // the range is [0, 0]
    *stream = static_cast<cudaStream_t>(made);
    return to_cuda(done);
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto on_gpu = [&](const Driver& gpu) {
    return is_default(stream) ? static_cast<int>(cudaErrorInvalidResourceHandle) : gpu.stream_destroy(on(stream));
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
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
