/// A network built for this machine and ready to run, for the commands that run one.
#pragma once

#include <memory>
#include <vector>

#include "builder/build.h"
#include "cli/flags.h"
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

/// Builds a session as the flags of profile and run say. Prints how long the build took.
Result<Session> build_session(const cli::Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile);

}  // namespace kiln
