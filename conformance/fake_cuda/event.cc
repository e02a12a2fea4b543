// Events. Time is a count of records, a microsecond each.
#include "state.h"

namespace kiln::cuda {

struct CudaEventObject {
  unsigned flags = 0;
  int64_t time_us = -1;  // never recorded
  std::shared_ptr<fake_cuda::Capture> capture;
};

}  // namespace kiln::cuda

using namespace kiln;
using namespace kiln::fake_cuda;
using kiln::cuda::EventHandle;
using kiln::cuda::StreamHandle;

extern "C" {

int cuEventCreate(EventHandle* event, unsigned flags) {
  if (const int early = enter("cuEventCreate")) return early;
  *event = new cuda::CudaEventObject{flags, -1, nullptr};
  const std::lock_guard lock(state().mutex);
  ++state().live_objects;
  return 0;
}
int cuEventDestroy_v2(EventHandle event) {
  if (const int early = enter("cuEventDestroy_v2")) return early;
  if (!event) return cuda::kInvalidHandle;
  delete event;
  const std::lock_guard lock(state().mutex);
  --state().live_objects;
  return 0;
}
int cuEventRecordWithFlags(EventHandle event, StreamHandle stream, unsigned flags) {
  if (const int early = enter("cuEventRecordWithFlags")) return early;
  if (!event || !is_stream(stream)) return cuda::kInvalidHandle;
  static int64_t now_us = 0;
  constexpr unsigned kExternal = 1;
  if (flags & kExternal) {  // part of the graph: recorded when that runs
    if (!capture_of(stream)) return cuda::kInvalidValue;
    return submit(stream, [event] { return event->time_us = ++now_us, 0; });
  }
  event->capture = capture_of(stream);
  if (!event->capture) event->time_us = ++now_us;
  return 0;
}
int cuEventSynchronize(EventHandle event) {
  if (const int early = enter("cuEventSynchronize")) return early;
  wait_for("cuEventSynchronize");
  return event->capture ? cuda::kCapturedEvent : cuda::kSuccess;
}
int cuEventQuery(EventHandle event) {
  if (const int early = enter("cuEventQuery")) return early;
  return event->capture ? cuda::kCapturedEvent : cuda::kSuccess;
}
int cuEventElapsedTime(float* ms, EventHandle start, EventHandle end) {
  if (const int early = enter("cuEventElapsedTime")) return early;
  for (const EventHandle event : {start, end})
    if (!event || event->time_us < 0 || (event->flags & cuda::kEventNoTiming)) return cuda::kInvalidHandle;
  *ms = static_cast<float>(end->time_us - start->time_us) / 1000;
  return 0;
}
int cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  if (const int early = enter("cuStreamWaitEvent")) return early;
  if (!event || !is_stream(stream)) return cuda::kInvalidHandle;
  if (event->capture && !capture_of(stream)) capture_of(stream) = event->capture;
  return 0;
}

}  // extern "C"
