#include "call.h"
#include "stream_of.h"

using namespace kiln::cudart;

namespace {

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (flags == cudaEventRecordExternal) return cudaErrorNotSupported;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    return to_cuda(kiln.event.record(event, stream), cudaErrorStreamCaptureImplicit);
  });
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
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
  return call([&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.destroy(event)); });
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
  return call(
      [&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.synchronize(event), cudaErrorCapturedEvent); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](const KilnPrivateEntry& kiln) { return to_cuda(kiln.event.query(event), cudaErrorCapturedEvent); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&](const KilnPrivateEntry& kiln) -> cudaError_t {
    if (!ms) return cudaErrorInvalidValue;
    const KilnStatus known = kiln.event.elapsed_ms(start, end, ms);
    // An event that keeps no time, or was never recorded, is none of the events that have a time.
    if (known == kKilnBadValue) return cudaErrorInvalidResourceHandle;
    return to_cuda(known, cudaErrorCapturedEvent);
  });
}
