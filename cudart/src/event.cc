#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;
using kiln::cuda::Driver;

namespace {

/// Like `call`, for functions that take an event. A null event never reaches the driver.
template <class G, class F>
cudaError_t with_event(cudaEvent_t event, G on_gpu, F on_host) {
  return call([&](const Driver& gpu) { return event ? on_gpu(gpu) : static_cast<int>(cudaErrorInvalidResourceHandle); },
              on_host);
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) {
    return event ? gpu.event_record_with_flags(on(event), on(stream), flags)
                 : static_cast<int>(cudaErrorInvalidResourceHandle);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (flags == cudaEventRecordExternal) return cudaErrorNotSupported;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    return to_cuda(kiln.event.record(event, stream), cudaErrorStreamCaptureImplicit);
  });
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  const auto on_gpu = [&](const Driver& gpu) {
    return event ? gpu.event_create(reinterpret_cast<kiln::cuda::EventHandle*>(event), flags)
                 : static_cast<int>(cudaErrorInvalidValue);
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!event || flags > (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess))
      return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess) return cudaErrorNotSupported;
    void* made = nullptr;
    const KilnStatus done = kiln.event.create(flags, &made);
    *event = static_cast<cudaEvent_t>(made);
    return to_cuda(done);
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_event(
      event, [&](const Driver& gpu) { return gpu.event_destroy(on(event)); },
      [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.destroy(event)); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record(event, stream, 0); }
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return record(event, per_thread(stream), 0);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return record(event, stream, flags);
}
cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return record(event, per_thread(stream), flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event(
      event, [&](const Driver& gpu) { return gpu.event_synchronize(on(event)); },
      [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.synchronize(event), cudaErrorCapturedEvent); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event(
      event, [&](const Driver& gpu) { return gpu.event_query(on(event)); },
      [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.query(event), cudaErrorCapturedEvent); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  const auto on_gpu = [&](const Driver& gpu) -> int {
    if (!ms) return cudaErrorInvalidValue;
    if (!start || !end) return cudaErrorInvalidResourceHandle;
    return gpu.event_elapsed_time(ms, on(start), on(end));
  };
  return call(on_gpu, [&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!ms) return cudaErrorInvalidValue;
    const KilnStatus known = kiln.event.elapsed_ms(start, end, ms);
    // CUDA takes an event that keeps no time, or was never recorded, for an invalid handle.
    if (known == kKilnBadValue) return cudaErrorInvalidResourceHandle;
    return to_cuda(known, cudaErrorCapturedEvent);
  });
}
