// Events and recordings of a CUDA device.
#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/launch_recorder.h"
#include "backend/cuda/device/memset_nodes.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

StreamHandle handle_of(const Stream& stream) { return static_cast<const CudaStream&>(stream).handle(); }

unsigned long long id_of(const Stream& stream) { return static_cast<const CudaStream&>(stream).id(); }

/// Sets `graph` to what `work` launches on the stream, also if `work` fails; null if it launches nothing.
Status capture(const Driver& driver, CudaStream& stream, TimedWork work, void* argument, GraphHandle& graph) {
  // Steps of Kiln's own may do what a capture forbids; plugins may not (InsideCapture).
  const OutsideCaptures outside(driver);
  TRY(driver.check(driver.stream_begin_capture(stream.handle(), kCaptureThreadLocal), "beginning a capture"));
  stream.set_recorded(true);
  Status ran = work(argument, &stream);
  stream.set_recorded(false);
  if (LaunchRecorder* const recorder = stream.recorder()) recorder->end_parts(stream.handle());
  Status ended = driver.check(driver.stream_end_capture(stream.handle(), &graph), "ending a capture");
  TRY(std::move(ran));
  return ended;
}

class CudaEvent final : public Event {
 public:
  CudaEvent(CudaDevice& device, EventHandle handle, EventTiming timing)
      : device_(device), driver_(device.driver()), handle_(handle), timing_(timing) {}
  ~CudaEvent() override {
    const CurrentContext current(device_);
    driver_.event_destroy(handle_);
  }
  Status record(Stream& stream) override {
    const CurrentContext current(device_);
    // A timed event in a capture is part of the graph, and recorded anew whenever that runs. Other events order the
    // captured work and mean nothing outside.
    const bool in_graph = timing_ == EventTiming::kOn && stream.capturing();
    const unsigned flags = in_graph ? unsigned{kEventRecordExternal} : 0U;
    TRY(driver_.check(driver_.event_record_with_flags(handle_, handle_of(stream), flags), "recording an event"));
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
    const OutsideCaptures outside(driver_);
    float ms = 0;
    TRY(driver_.check(driver_.event_elapsed_time(&ms, static_cast<const CudaEvent&>(start).handle_, handle_),
                      "time between events"));
    return ms;
  }

 private:
  CudaDevice& device_;
  const Driver& driver_;
  const EventHandle handle_;
  const EventTiming timing_;
  unsigned long long recorded_on_ = 0;
};

class CudaRecording final : public Recording {
 public:
  /// `graph` is what `handle` was made of, whose nodes `recorder` knows.
  /// `stream` is for more captures; null where none will be needed.
  CudaRecording(CudaDevice& device, GraphHandle graph, GraphExecHandle handle, LaunchRecorder recorder,
                std::unique_ptr<CudaStream> stream)
      : device_(device), graph_(graph), handle_(handle), recorder_(std::move(recorder)), stream_(std::move(stream)) {}
  ~CudaRecording() override {
    const CurrentContext current(device_);
    device_.driver().graph_exec_destroy(handle_);
    device_.driver().graph_destroy(graph_);
  }
  Status launch(Stream& stream) override {
    const CurrentContext current(device_);
    return device_.driver().check(device_.driver().graph_launch(handle_, handle_of(stream)), "launching a graph");
  }
  bool can_replace(size_t part) const override { return recorder_.can_replace(part); }
  Status replace(size_t part, TimedWork work, void* argument) override {
    const CurrentContext current(device_);
    if (recorder_.is_librarys(part)) return replace_librarys(part, work, argument);
    CudaStream stream(device_, recorder_);
    recorder_.begin_replacing(part, handle_);
    TRY(work(argument, &stream));
    return recorder_.end_replacing();
  }

 private:
  Status replace_librarys(size_t part, TimedWork work, void* argument) {
    GraphHandle graph = nullptr;
    Status done = capture(device_.driver(), *stream_, work, argument, graph);
    if (done) done = recorder_.replace_librarys(part, handle_, graph);
    if (graph) device_.driver().graph_destroy(graph);
    return done;
  }

  CudaDevice& device_;
  const GraphHandle graph_;
  const GraphExecHandle handle_;
  LaunchRecorder recorder_;
  const std::unique_ptr<CudaStream> stream_;
};

}  // namespace

Result<std::unique_ptr<Event>> CudaDevice::create_event(EventTiming timing) {
  const CurrentContext current(*this);
  EventHandle handle = nullptr;
  TRY(driver_.check(driver_.event_create(&handle, timing == EventTiming::kOn ? 0u : kEventNoTiming),
                    "creating an event"));
  return std::make_unique<CudaEvent>(*this, handle, timing);
}

Result<std::unique_ptr<Recording>> CudaDevice::record(TimedWork work, void* argument) {
  const CurrentContext current(*this);
  std::unique_ptr<CudaStream> stream = TRY(CudaStream::create(*this));
  LaunchRecorder recorder(driver_);
  stream->set_recorder(&recorder);
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  Status made = capture(driver_, *stream, work, argument, graph);
  stream->set_recorder(nullptr);
  if (made) replace_memset_nodes(*this, graph);
  if (made) made = driver_.check(driver_.graph_instantiate_with_flags(&exec, graph, 0), "making a graph");
  if (graph && !exec) driver_.graph_destroy(graph);
  TRY(std::move(made));
  if (!recorder.has_librarys()) stream.reset();
  return std::make_unique<CudaRecording>(*this, graph, exec, std::move(recorder), std::move(stream));
}

}  // namespace kiln::cuda
