// Classes that programs derive to watch: profilers, progress monitors, debug listeners.

#include <NvInfer.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdio>
#include <optional>
#include <string>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::APILanguage, nvinfer1::DataType, nvinfer1::Dims, nvinfer1::TensorLocation;
using nvinfer1::IDebugListener, nvinfer1::IProfiler, nvinfer1::IProgressMonitor;

class PythonProfiler final : public IProfiler {
 public:
  NB_TRAMPOLINE(IProfiler);
  void reportLayerTime(const char* layer, float ms) noexcept override {
    call<void>(nb_trampoline, {"IProfiler", "report_layer_time"},
               [&](const nb::object& method) { method(to_str(layer), ms); });
  }
};

class PrintingProfiler final : public IProfiler {
 public:
  void reportLayerTime(const char* layer, float ms) noexcept override {
    std::printf("%s: %g ms\n", layer, static_cast<double>(ms));
    std::fflush(stdout);
  }
};

class PythonProgressMonitor final : public IProgressMonitor {
 public:
  NB_TRAMPOLINE(IProgressMonitor);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  void phaseStart(const char* phase, const char* parent, int32_t num_steps) noexcept override {
    call<void>(nb_trampoline, {"IProgressMonitor", "phase_start"},
               [&](const nb::object& method) { method(to_str(phase), to_str(parent), num_steps); });
  }
  bool stepComplete(const char* phase, int32_t step) noexcept override {
    return call(
        nb_trampoline, {"IProgressMonitor", "step_complete"},
        [&](const nb::object& method) {
          // An interrupt that a phase's start or end was raised in ends the build, too.
          if (const CallScope* scope = CallScope::current(); scope != nullptr && scope->interrupted()) return false;
          return is_true(method(to_str(phase), step));
        },
        false);
  }
  void phaseFinish(const char* phase) noexcept override {
    call<void>(nb_trampoline, {"IProgressMonitor", "phase_finish"},
               [&](const nb::object& method) { method(to_str(phase)); });
  }
};

class PythonDebugListener final : public IDebugListener {
 public:
  NB_TRAMPOLINE(IDebugListener);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  bool processDebugTensor(const void* address, TensorLocation location, DataType type, const Dims& shape,
                          const char* name, cudaStream_t stream) override {
    return call(
        nb_trampoline, {"IDebugListener", "process_debug_tensor"},
        [&](const nb::object& method) {
          const nb::object answer =
              method(to_address(address), location, type, Dims(shape), to_str(name), to_address(stream));
          return answer.is_none() || is_true(answer);  // a listener that answers nothing has no objection
        },
        false);
  }
};

void bind_profilers(nb::module_& m) {
  nb::class_<IProfiler, PythonProfiler>(
      m, "IProfiler", nb::is_weak_referenceable(),
      "Receives the time of each layer of a run. Derive it and define report_layer_time(layer_name, ms).")
      .def(nb::init<>(), "Makes a profiler, for classes that derive it.")
      .def("report_layer_time", from_python<&IProfiler::reportLayerTime>, "layer_name"_a, "ms"_a,
           "Is told of the milliseconds that a layer took in a run.");
  nb::class_<PrintingProfiler, IProfiler>(m, "Profiler", "Prints the time of each layer.")
      .def(nb::init<>(), "Makes a profiler that prints.")
      .def("report_layer_time", &PrintingProfiler::reportLayerTime, "layer_name"_a, "ms"_a,
           "Prints the milliseconds that a layer took in a run.");
}

}  // namespace

void bind_observers(nb::module_& m) {
  bind_profilers(m);
  nb::class_<IProgressMonitor, PythonProgressMonitor>(
      m, "IProgressMonitor", nb::is_weak_referenceable(),
      "Follows a build. Derive it and define its three methods; the build calls them, perhaps from several threads.")
      .def(nb::init<>(), "Makes a monitor, for classes that derive it.")
      .def(
          "phase_start",
          [](IProgressMonitor& self, const char* phase, const std::optional<std::string>& parent, int32_t num_steps) {
            const PythonCall mark;
            self.phaseStart(phase, parent ? parent->c_str() : nullptr, num_steps);
          },
          "phase_name"_a, "parent_phase"_a.none(), "num_steps"_a,
          "A phase of `num_steps` steps begins, inside of `parent_phase` (None for the outermost).")
      .def("step_complete", from_python<&IProgressMonitor::stepComplete>, "phase_name"_a, "step"_a,
           "A step of a phase is done; False ends the build.")
      .def("phase_finish", from_python<&IProgressMonitor::phaseFinish>, "phase_name"_a, "A phase ends.");
  nb::class_<IDebugListener, PythonDebugListener>(
      m, "IDebugListener", nb::is_weak_referenceable(),
      "Receives the values of debug tensors while a context runs. Derive it and define process_debug_tensor.")
      .def(nb::init<>(), "Makes a listener, for classes that derive it.")
      .def(
          "process_debug_tensor",
          [](IDebugListener&, size_t, TensorLocation, DataType, const Dims&, const char*, size_t) {
            throw_not_defined("IDebugListener.process_debug_tensor");
          },
          "addr"_a, "location"_a, "type"_a, "shape"_a, "name"_a, "stream"_a,
          "Is told of a tensor's address (an int, valid during the call), where it is, its type, shape and name, and "
          "the "
          "stream on which it was computed. False is an error of the run.");
}

}  // namespace kiln::python
