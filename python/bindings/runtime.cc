// Runtime: loads plans.

#include <NvInfer.h>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::IErrorRecorder, nvinfer1::IGpuAllocator, nvinfer1::ILogger, nvinfer1::IRuntime, nvinfer1::IStreamReader,
    nvinfer1::IStreamReaderV2;

using RuntimeClass = nb::class_<IRuntime>;
using RuntimeSelf = nb::handle_t<IRuntime>;

Given<IRuntime> create_runtime(nb::handle_t<ILogger> logger) {
  auto& to = as(logger);
  Given<IRuntime> runtime = give_new(without_gil([&] { return nvinfer1::createInferRuntime(to); }), {logger},
                                     "no runtime could be made; the log says why");
  remember_logger(logger, to);
  return runtime;
}

template <class Reader>
Given<nvinfer1::ICudaEngine> deserialize_from(RuntimeSelf self, Reader& reader) {
  auto& runtime = as(self);
  return give(without_gil(runtime, [&] { return runtime.deserializeCudaEngine(reader); }), {self});
}

void bind_loading(RuntimeClass& cls) {
  cls.def("deserialize_cuda_engine", &deserialize_from<IStreamReader>, "stream_reader"_a,
          "Loads the engine of a plan that a reader gives; None where that fails. Deprecated: use an IStreamReaderV2.")
      .def("deserialize_cuda_engine", &deserialize_from<IStreamReaderV2>, "stream_reader_v2"_a,
           "Loads the engine of a plan that a reader gives; None where that fails.")
      .def(
          "deserialize_cuda_engine",
          [](RuntimeSelf self, const BufferObject& serialized_engine) {
            const Buffer bytes(serialized_engine);
            auto& runtime = as(self);
            return give(
                without_gil(runtime, [&] { return runtime.deserializeCudaEngine(bytes.data(), bytes.size_bytes()); }),
                {self});
          },
          "serialized_engine"_a, "Loads the engine of a plan, any bytes-like object; None where that fails.")
      .def(
          "load_runtime", [](RuntimeSelf self, const char* path) { return give(as(self).loadRuntime(path), {self}); },
          "path"_a, "Loads a runtime of another version from a library; None where that fails.");
}

}  // namespace

void bind_runtime(nb::module_& m) {
  RuntimeClass cls(m, "Runtime", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots), "Loads plans.");
  cls.def(nb::new_(&create_runtime), "logger"_a, "Makes a runtime that writes to a logger.");
  bind_loading(cls);
  cls.def_prop_rw("DLA_core", &IRuntime::getDLACore, &IRuntime::setDLACore,
                  "The number of the accelerator that engines run on.")
      .def_prop_ro("num_DLA_cores", &IRuntime::getNbDLACores, "The number of accelerators.")
      .def_prop_rw(
          "gpu_allocator", nullptr,
          [](IRuntime& self, IGpuAllocator* allocator) {
            self.setGpuAllocator(allocator);
            hold_item_too(&self, "gpu_allocator ", allocator);
          },
          set_or_none(), "What gives engines the device's memory; it can only be set. None is the library's own.")
      .def_prop_rw(
          "error_recorder", &IRuntime::getErrorRecorder,
          [](IRuntime& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.")
      .def_prop_ro("logger", &IRuntime::getLogger, "The logger.")
      .def_prop_rw("max_threads", &IRuntime::getMaxThreads, &IRuntime::setMaxThreads, "The most threads that it uses.")
      .def_prop_rw("temporary_directory", &IRuntime::getTemporaryDirectory, &IRuntime::setTemporaryDirectory,
                   "Where libraries that a plan holds are stored while they are in use.")
      .def_prop_rw("tempfile_control_flags", &IRuntime::getTempfileControlFlags, &IRuntime::setTempfileControlFlags,
                   "How libraries that a plan holds are stored: bits 1 << int(TempfileControlFlag).")
      .def("get_plugin_registry", &IRuntime::getPluginRegistry, nb::rv_policy::reference_internal,
           "The registry of plugins of this runtime's engines.")
      .def_prop_rw("engine_host_code_allowed", &IRuntime::getEngineHostCodeAllowed, &IRuntime::setEngineHostCodeAllowed,
                   "Whether plans may hold code that runs on the host.")
      .def("__del__", &ignore_del<IRuntime>, kIgnoreDel);
}

}  // namespace kiln::python
