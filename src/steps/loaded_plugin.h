/// How steps that are plugins load, bind and run on any device.
#pragma once

#include "steps/by_function.h"
#include "steps/plugin.h"

namespace kiln {

/// What differs from device to device in a plugin's runs. One belongs to each loaded step.
class PluginDevice {
 public:
  virtual ~PluginDevice() = default;
  /// Where the run finds input i; constants included.
  virtual const void* input(const RunArguments& run, size_t i) const { return run.inputs[i]; }
  /// The device's own handle of the run's stream; null on a host device.
  virtual void* stream(const RunArguments&) const { return nullptr; }
  enum class Writes : bool { kOutputs, kNothing };  ///< kNothing: all outputs are empty
  /// Has the plugin queue the work of a run.
  virtual Status enqueue(PluginInstance& plugin, const PluginRun& run, const RunArguments&, Writes) const {
    return plugin.enqueue(run);
  }
  /// Tells size k of the run, a scalar of type `dtype` at `size`.
  virtual Status tell_size(const RunArguments& run, size_t k, const void* size, DType dtype) const = 0;
};

/// Fails where the step has no plugin.
LoadResult load_plugin(const steps::Plugin& step, const StepTypes& types, std::unique_ptr<const PluginDevice> device);

}  // namespace kiln
