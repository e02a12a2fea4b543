#include "api/run/event_table.h"

#include "backend/cpu/device/host_stream.h"
#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"

namespace kiln::api {

Handles<cpu::HostEvent>& event_handles() {
  static auto& all = *new Handles<cpu::HostEvent>(uintptr_t{1} << 61, "event");
  return all;
}

namespace {

std::unexpected<Error> only_recorded() {
  return error(Code::kUnsupported, "an event of the program can be recorded, and nothing else");
}

class ProgramEvent : public Event {
 public:
  Status wait(Stream&) final { return only_recorded(); }
  Status synchronize() final { return only_recorded(); }
  Result<float> elapsed_ms(const Event&) const final { return only_recorded(); }
};

class HostProgramEvent final : public ProgramEvent {
 public:
  explicit HostProgramEvent(std::shared_ptr<cpu::HostEvent> event) : event_(std::move(event)) {}
  Status record(Stream& stream) override { return static_cast<cpu::HostStream&>(stream).record(event_); }

 private:
  const std::shared_ptr<cpu::HostEvent> event_;
};

class CudaProgramEvent final : public ProgramEvent {
 public:
  CudaProgramEvent(cuda::CudaDevice& device, cuda::EventHandle event) : device_(device), event_(event) {}
  Status record(Stream& stream) override {
    constexpr unsigned kExternal = 1;  // CU_EVENT_RECORD_EXTERNAL: a node that records it in every run of the graph
    const cuda::CurrentContext current(device_);
    return device_.driver().check(
        device_.driver().event_record_with_flags(event_, static_cast<cuda::CudaStream&>(stream).handle(),
                                                 stream.capturing() ? kExternal : 0),
        "recording the program's event for consumed inputs");
  }

 private:
  cuda::CudaDevice& device_;
  const cuda::EventHandle event_;
};

}  // namespace

Result<std::unique_ptr<Event>> program_event(Device& device, void* handle) {
  if (device.kind() == DeviceKind::kCuda)
    return std::make_unique<CudaProgramEvent>(static_cast<cuda::CudaDevice&>(device),
                                              static_cast<cuda::EventHandle>(handle));
  std::shared_ptr<cpu::HostEvent> event = event_handles().find(handle);
  if (!event) return error(Code::kInvalidArgument, event_handles().unknown(handle));
  return std::make_unique<HostProgramEvent>(std::move(event));
}

}  // namespace kiln::api
