/// A network built for this machine and ready to run, for the commands that run one.
#pragma once

#include <memory>
#include <vector>

#include "builder/build.h"
#include "cli/flags.h"
#include "device/staging.h"
#include "runtime/context.h"
#include "runtime/runner.h"

namespace kiln {

/// The memory of outputs: room for all that an output may be, or, where nothing bounds it, for what a run makes.
class OutputPlaces final : public runtime::OutputMemory {
 public:
  OutputPlaces(Device& device, Stream& stream, const plan::Plan& plan)
      : device_(device), stream_(stream), plan_(plan) {}

  /// Makes the places of a context that is bound, and gives it their addresses.
  Status make(runtime::Context& context);
  Result<void*> memory_of(int output, const Extents& extents) override;
  /// Copies back what a run has left in the places.
  Result<std::vector<HostTensor>> fetch(const runtime::Context& context) const;

 private:
  struct Place {
    HostTensor tensor;
    Staging there;
  };
  Result<Place> place_of(int64_t bytes);

  Device& device_;
  Stream& stream_;
  const plan::Plan& plan_;
  std::vector<Place> places_;
};

struct Session {
  std::unique_ptr<Device> device;
  std::shared_ptr<const plan::Plan> plan;
  std::shared_ptr<const runtime::Engine> engine;
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<Stream> stream;
  std::vector<HostTensor> inputs, outputs;
  std::vector<Staging> inputs_there;  ///< what the context's addresses point to
  std::unique_ptr<OutputPlaces> output_places;
  double build_ms = 0;

  /// Sets the inputs' extents and addresses, binds, and makes outputs.
  Status set_inputs(std::vector<HostTensor> tensors);
  /// One run, waited for; `outputs` are up to date after `fetch`.
  Status run() {
    TRY(context->enqueue(*stream));
    return stream->synchronize();
  }
  Status fetch() {
    outputs = TRY(output_places->fetch(*context));
    return {};
  }
};

/// Builds a session as the flags of profile and run say.
Result<Session> build_session(const cli::Arguments& arguments, const ir::Graph& graph, const ProfileRequest& profile);

/// A session of a plan that is built. Fails where no device of its kind is here, or the plan is for another one.
Result<Session> load_session(std::shared_ptr<const plan::Plan> plan);

}  // namespace kiln
