// Ctrl-C during a build: Python's handlers of signals run only in the main thread and only while it runs Python, so a
// build has to ask for them now and then.

#pragma once

#include <NvInfer.h>

#include <utility>

#include "callback.h"

namespace kiln::python {

/// While it lives, builds of the main thread with this configuration end soon once a handler of a signal raises; what
/// it raised is kept for the call that is under way. Does nothing in other threads. Made and destroyed with the GIL.
class BuildWatch {
 public:
  explicit BuildWatch(nvinfer1::IBuilderConfig& config);
  ~BuildWatch();
  BuildWatch(const BuildWatch&) = delete;
  BuildWatch& operator=(const BuildWatch&) = delete;

 private:
  class Monitor;
  friend nvinfer1::IProgressMonitor* program_monitor(const nvinfer1::IBuilderConfig& config);
  nvinfer1::IBuilderConfig& config_;
  Monitor* monitor_ = nullptr;
};

/// The progress monitor that the program gave a configuration, also while a watch stands in for it. Needs the GIL.
nvinfer1::IProgressMonitor* program_monitor(const nvinfer1::IBuilderConfig& config);

/// Runs a build without the GIL, as `without_gil` does, and watches it.
template <class Object, class Body>
auto build_without_gil(Object& builder, nvinfer1::IBuilderConfig& config, Body&& body) {
  const BuildWatch watch(config);
  return without_gil(builder, std::forward<Body>(body));
}

}  // namespace kiln::python
