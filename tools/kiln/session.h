/// A network built for this machine and ready to run, for the commands that run one.
#pragma once

#include <memory>
#include <vector>

#include "arguments.h"
#include "device/staging.h"
#include "runtime/context.h"

namespace kiln {

struct Session {
  std::unique_ptr<Device> device;
  std::shared_ptr<const plan::Plan> plan;
  std::shared_ptr<const runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<Stream> stream;
  std::vector<HostTensor> inputs, outputs;
  std::vector<Staging> inputs_there, outputs_there;  ///< what the context's addresses point to

  /// Sets the inputs' extents and addresses, binds, and makes outputs.
  Status set_inputs(std::vector<HostTensor> tensors);
  /// One run, waited for; `outputs` are up to date after `fetch`.
  Status run() {
    TRY(context->enqueue(*stream));
    return stream->synchronize();
  }
  Status fetch();
};

/// Options: --device=cpu|cuda, --shapes, --threads, --noTF32, --fp16, --bf16, --level, --verbose. Prints how long
/// import and build took. `profile` overrides --shapes.
Result<Session> build_session(const Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile);

}  // namespace kiln
