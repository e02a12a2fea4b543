/// A network built for this CPU and ready to run, for the commands that run one.
#pragma once

#include <memory>
#include <vector>

#include "arguments.h"
#include "backend/cpu/device/cpu_device.h"
#include "runtime/context.h"

namespace kiln {

struct Session {
  std::unique_ptr<cpu::CpuDevice> device;
  std::shared_ptr<const plan::Plan> plan;
  std::shared_ptr<const runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<Stream> stream;
  std::vector<HostTensor> inputs, outputs;  ///< what the context's addresses point to

  /// Sets the inputs' extents and addresses, binds, and makes outputs.
  Status set_inputs(std::vector<HostTensor> tensors);
};

/// Options: --shapes, --threads, --noTF32, --verbose. Prints how long import and build took. `profile` overrides
/// --shapes.
Result<Session> build_session(const Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile);

}  // namespace kiln
