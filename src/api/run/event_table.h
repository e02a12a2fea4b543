/// Events by the handles that programs hold as cudaEvent_t: the library's own where the host is the device, the
/// driver's on a GPU.
#pragma once

#include <memory>

#include "api/run/handles.h"
#include "backend/cpu/device/host_event.h"
#include "device/async.h"
#include "device/device.h"

namespace kiln::api {

/// The process's events of the host.
Handles<cpu::HostEvent>& event_handles();

/// A program's event, to be recorded on streams of `device`; the rest of what an event can do stays the program's. In a
/// capture it becomes part of the graph, and is recorded whenever that runs. Fails where the host has no such event.
Result<std::unique_ptr<Event>> program_event(Device& device, void* handle);

}  // namespace kiln::api
