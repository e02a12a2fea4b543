// Events and recordings of a CUDA device.
#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

StreamHandle handle_of(const Stream& stream) { return static_cast<const CudaStream&>(stream).handle(); }

/// One handle for another stream in every thread.
bool is_per_thread(StreamHandle stream) { return reinterpret_cast<uintptr_t>(stream) == kPerThreadStream; }

class CudaEvent final : public Event {
 public:
  CudaEvent(CudaDevice& device, EventHandle handle) : device_(device), driver_(device.driver()), handle_(handle) {}
  ~CudaEvent() override {
    const CurrentContext current(device_);
    driver_.event_destroy(handle_);
  }
  Status record(Stream& stream) override {
    const CurrentContext current(device_);
    TRY(driver_.check(driver_.event_record_with_flags(handle_, handle_of(stream), 0), "recording an event"));
    recorded_on_ = id_of(stream);
    return {};
  }
  Status wait(Stream& stream) override {
    const CurrentContext current(device_);
    if (recorded_on_ != 0 && id_of(stream) == recorded_on_) return {};  // in order as it is
    static_cast<const CudaStream&>(stream).note_wait();
    return driver_.check(driver_.stream_wait_event(handle_of(stream), handle_, 0), "waiting for an event");
  }
  Status synchronize() override {
    const CurrentContext current(device_);
    const OutsideCaptures outside(driver_);
    return driver_.check(driver_.event_synchronize(handle_), "work before an event");
  }
  Result<float> elapsed_ms(const Event& start) const override {
    const CurrentContext current(device_);
    float ms = 0;
    TRY(driver_.check(driver_.event_elapsed_time(&ms, static_cast<const CudaEvent&>(start).handle_, handle_),
                      "time between events"));
    return ms;
  }

 private:
  /// No other stream's, also of later ones, as a handle would be; 0: unknown.
  unsigned long long id_of(const Stream& stream) const {
    unsigned long long id = 0;
    if (is_per_thread(handle_of(stream)) || driver_.stream_get_id(handle_of(stream), &id) != 0) return 0;
    return id;
  }

  CudaDevice& device_;
  const Driver& driver_;
  const EventHandle handle_;
  unsigned long long recorded_on_ = 0;
};

class CudaRecording final : public Recording {
 public:
  CudaRecording(CudaDevice& device, GraphExecHandle handle) : device_(device), handle_(handle) {}
  ~CudaRecording() override {
    const CurrentContext current(device_);
    device_.driver().graph_exec_destroy(handle_);
  }
  Status launch(Stream& stream) override {
    const CurrentContext current(device_);
    return device_.driver().check(device_.driver().graph_launch(handle_, handle_of(stream)), "launching a graph");
  }

 private:
  CudaDevice& device_;
  const GraphExecHandle handle_;
};

}  // namespace

Result<std::unique_ptr<Event>> CudaDevice::create_event(EventTiming timing) {
  const CurrentContext current(*this);
  EventHandle handle = nullptr;
  TRY(driver_.check(driver_.event_create(&handle, timing == EventTiming::kOn ? 0u : kEventNoTiming),
                    "creating an event"));
  return std::make_unique<CudaEvent>(*this, handle);
}

Result<std::unique_ptr<Recording>> CudaDevice::record(TimedWork work, void* argument) {
  const CurrentContext current(*this);
  const std::unique_ptr<CudaStream> stream = TRY(CudaStream::create(*this));
  TRY(driver_.check(driver_.stream_begin_capture(stream->handle(), kCaptureRelaxed), "beginning a capture"));
  Status ran = work(argument, stream.get());
  GraphHandle graph = nullptr;
  Status ended = driver_.check(driver_.stream_end_capture(stream->handle(), &graph), "ending a capture");
  GraphExecHandle exec = nullptr;
  Status made;
  if (ran && ended) made = driver_.check(driver_.graph_instantiate_with_flags(&exec, graph, 0), "making a graph");
  if (graph) driver_.graph_destroy(graph);
  TRY(std::move(ran));
  TRY(std::move(ended));
  TRY(std::move(made));
  return std::make_unique<CudaRecording>(*this, exec);
}

}  // namespace kiln::cuda
