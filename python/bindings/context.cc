// IExecutionContext: runs of an engine. Addresses, streams and events are ints.

#include <NvInfer.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::Dims, nvinfer1::ICudaEngine, nvinfer1::IDebugListener, nvinfer1::IErrorRecorder,
    nvinfer1::IExecutionContext, nvinfer1::IGpuAllocator, nvinfer1::IOutputAllocator, nvinfer1::IProfiler;

using ContextClass = nb::class_<IExecutionContext>;

bool execute_v2(IExecutionContext& self, const std::vector<size_t>& bindings) {
  const auto num_tensors = static_cast<size_t>(self.getEngine().getNbIOTensors());
  if (bindings.size() < num_tensors)  // the library would read what is behind them
    throw nb::value_error(str(bindings.size(), " addresses for ", num_tensors, " tensors").c_str());
  std::vector<void*> pointers(bindings.size());
  std::transform(bindings.begin(), bindings.end(), pointers.begin(), &to_pointer);
  return without_gil(self, [&] { return self.executeV2(pointers.data()); });
}

bool execute_async_v3(IExecutionContext& self, size_t stream_handle) {
  return without_gil(self, [&] { return self.enqueueV3(to_stream(stream_handle)); });
}

std::vector<std::string> infer_shapes(IExecutionContext& self) {
  std::vector<const char*> names(static_cast<size_t>(self.getEngine().getNbIOTensors()));
  const int32_t count =
      without_gil(self, [&] { return self.inferShapes(static_cast<int32_t>(names.size()), names.data()); });
  if (count < 0) throw std::runtime_error("shapes could not be inferred; the log says why");
  return {names.begin(), names.begin() + std::min<size_t>(names.size(), static_cast<size_t>(count))};
}

bool set_optimization_profile_async(IExecutionContext& self, int32_t index, size_t stream) {
  if (!without_gil(self, [&] { return self.setOptimizationProfileAsync(index, to_stream(stream)); }))
    throw std::runtime_error(str("profile ", index, " could not be set; the log says why"));
  return true;
}

/// An int, or a capsule of the address.
bool set_communicator(IExecutionContext& self, const nb::object& communicator) {
  void* pointer = nullptr;
  if (PyCapsule_CheckExact(communicator.ptr())) {
    pointer = PyCapsule_GetPointer(communicator.ptr(), PyCapsule_GetName(communicator.ptr()));
    if (pointer == nullptr) throw nb::python_error();
  } else if (size_t address = 0; nb::try_cast(communicator, address)) {
    pointer = to_pointer(address);
  } else if (!communicator.is_none()) {
    throw nb::type_error(str("a communicator is an address as int, a capsule of one, or None, not ",
                             nb::cast<std::string>(communicator.type().attr("__name__")))
                             .c_str());
  }
  return self.setCommunicator(pointer);
}

void bind_runs(ContextClass& cls) {
  cls.def("execute_v2", &execute_v2, "bindings"_a,
          "Runs with the addresses of all tensors, in the order of their indices, and waits. Whether that worked.")
      .def("execute_async_v3", &execute_async_v3, "stream_handle"_a,
           "Puts a run on a stream, with the addresses that set_tensor_address has set. Whether that worked.")
      .def("infer_shapes", &infer_shapes,
           "Finds the shapes of the outputs from those of the inputs; answers the names of inputs that still lack "
           "something. Raises RuntimeError where shapes contradict each other.")
      .def("set_optimization_profile_async", &set_optimization_profile_async, "profile_index"_a, "stream_handle"_a,
           "Goes over to another profile; input shapes have to be set anew. Raises RuntimeError where that fails.")
      .def_prop_ro("active_optimization_profile", &IExecutionContext::getOptimizationProfile,
                   "The index of the profile in use.")
      .def(
          "set_input_consumed_event",
          [](IExecutionContext& self, size_t event) {
            return self.setInputConsumedEvent(reinterpret_cast<cudaEvent_t>(event));
          },
          "event"_a, "Sets the event that a run records when inputs may be overwritten; 0 for none.")
      .def(
          "get_input_consumed_event",
          [](const IExecutionContext& self) { return to_address(self.getInputConsumedEvent()); },
          "The event that set_input_consumed_event has set.")
      .def(
          "set_aux_streams",
          [](IExecutionContext& self, const std::vector<size_t>& aux_streams) {
            std::vector<cudaStream_t> streams(aux_streams.size());
            std::transform(aux_streams.begin(), aux_streams.end(), streams.begin(), &to_stream);
            self.setAuxStreams(streams.data(), static_cast<int32_t>(streams.size()));
          },
          "aux_streams"_a, "Sets the streams that runs use beside their own.")
      .def("set_communicator", &set_communicator, "communicator"_a.none(),
           "Sets the communicator between devices, by its address.");
}

void bind_tensors(ContextClass& cls) {
  cls.def(
         "set_input_shape",
         [](IExecutionContext& self, const char* name, const Dims& shape) {
           return without_gil(self, [&] { return self.setInputShape(name, shape); });
         },
         "name"_a, "shape"_a, "Sets the shape of an input; whether it fits the profile.")
      .def("get_tensor_shape", &IExecutionContext::getTensorShape, "name"_a,
           "The shape of a tensor; -1 where an extent is not known.")
      .def("get_tensor_strides", &IExecutionContext::getTensorStrides, "name"_a,
           "The strides of a tensor, in elements or vectors of its format.")
      .def(
          "set_tensor_address",
          [](IExecutionContext& self, const char* name, size_t memory) {
            return self.setTensorAddress(name, to_pointer(memory));
          },
          "name"_a, "memory"_a, "Sets where an input or output is. Its memory has to outlive the runs.")
      .def(
          "get_tensor_address",
          [](const IExecutionContext& self, const char* name) { return to_address(self.getTensorAddress(name)); },
          "name"_a, "What set_tensor_address has set, or 0.")
      .def(
          "set_output_allocator",
          [](IExecutionContext& self, const char* name, IOutputAllocator* output_allocator) {
            const bool is_set = without_gil(self, [&] { return self.setOutputAllocator(name, output_allocator); });
            if (is_set) hold_item(&self, (std::string("output_allocator of ") + name).c_str(), output_allocator);
            return is_set;
          },
          "name"_a, "output_allocator"_a.none(), "Sets what gives an output its memory; None for set_tensor_address.")
      .def("get_output_allocator", &IExecutionContext::getOutputAllocator, "name"_a, nb::rv_policy::reference_internal,
           "What set_output_allocator has set, or None.")
      .def("get_max_output_size", &IExecutionContext::getMaxOutputSize, "name"_a,
           "The most bytes that an output can take with the shapes that are set.")
      .def_prop_ro("all_binding_shapes_specified", &IExecutionContext::allInputDimensionsSpecified,
                   "Whether the shapes of all inputs are known.")
      .def_prop_ro("all_shape_inputs_specified", &IExecutionContext::allInputShapesSpecified,
                   "Whether the values of all shape inputs are known. Deprecated.");
}

void bind_memory(ContextClass& cls) {
  cls.def_prop_rw(
         "device_memory", nullptr,
         [](IExecutionContext& self, size_t memory) {
           without_gil(self, [&] { self.setDeviceMemory(to_pointer(memory)); });
         },
         "The address of the context's memory; it can only be set.")
      .def(
          "set_device_memory",
          [](IExecutionContext& self, size_t memory, int64_t size) {
            without_gil(self, [&] { self.setDeviceMemoryV2(to_pointer(memory), size); });
          },
          "memory"_a, "size"_a, "Sets the context's memory, of `size` bytes at an address.")
      .def(
          "update_device_memory_size_for_shapes",
          [](IExecutionContext& self) {
            return without_gil(self, [&] { return self.updateDeviceMemorySizeForShapes(); });
          },
          "The bytes of memory that the context needs with the shapes that are set.")
      .def_prop_rw(
          "temporary_allocator", &IExecutionContext::getTemporaryStorageAllocator,
          [](IExecutionContext& self, IGpuAllocator* allocator) {
            self.setTemporaryStorageAllocator(allocator);
            hold_item(&self, "temporary_allocator", allocator);
          },
          set_or_none(), "What gives memory for the time of a run, or None.")
      .def_prop_rw("persistent_cache_limit", &IExecutionContext::getPersistentCacheLimit,
                   &IExecutionContext::setPersistentCacheLimit, "The bytes of cache that may be kept for the context.")
      .def(
          "get_runtime_config",
          [](nb::handle_t<IExecutionContext> self) { return give(as(self).getRuntimeConfig(), {self}); },
          "The configuration that the context was made with.");
}

/// Properties for objects that watch runs.
void bind_watching(ContextClass& cls) {
  cls.def_prop_rw(
         "profiler", &IExecutionContext::getProfiler,
         [](IExecutionContext& self, IProfiler* profiler) {
           without_gil(self, [&] { self.setProfiler(profiler); });
           hold_item(&self, "profiler", profiler);
         },
         set_or_none(), "What is told of the time of each layer, or None.")
      .def_prop_rw("enqueue_emits_profile", &IExecutionContext::getEnqueueEmitsProfile,
                   &IExecutionContext::setEnqueueEmitsProfile,
                   "Whether a run tells the profiler itself; else report_to_profiler does.")
      .def(
          "report_to_profiler",
          [](const IExecutionContext& self) { return without_gil(self, [&] { return self.reportToProfiler(); }); },
          "Waits for the last run and tells the profiler of it; whether there was one to tell of.")
      .def(
          "set_debug_listener",
          [](IExecutionContext& self, IDebugListener* listener) {
            const bool is_set = without_gil(self, [&] { return self.setDebugListener(listener); });
            if (is_set) hold_item(&self, "debug_listener", listener);
            return is_set;
          },
          "listener"_a.none(), "Sets what receives the values of debug tensors.")
      .def("get_debug_listener", &IExecutionContext::getDebugListener, nb::rv_policy::reference_internal,
           "What set_debug_listener has set, or None.")
      .def("set_tensor_debug_state", &IExecutionContext::setTensorDebugState, "name"_a, "flag"_a,
           "Switches a debug tensor on or off.")
      .def("get_debug_state", &IExecutionContext::getDebugState, "name"_a, "Whether a debug tensor is on.")
      .def("set_all_tensors_debug_state", &IExecutionContext::setAllTensorsDebugState, "flag"_a,
           "Switches all debug tensors on or off.")
      .def_prop_rw("unfused_tensors_debug_state", &IExecutionContext::getUnfusedTensorsDebugState,
                   &IExecutionContext::setUnfusedTensorsDebugState,
                   "Whether tensors that no layer swallowed are debugged.")
      .def_prop_rw("debug_sync", &IExecutionContext::getDebugSync, &IExecutionContext::setDebugSync,
                   "Whether a run waits after each layer.")
      .def_prop_rw("nvtx_verbosity", &IExecutionContext::getNvtxVerbosity, &IExecutionContext::setNvtxVerbosity,
                   "How much a run tells a tracing tool.");
}

}  // namespace

void bind_context(nb::module_& m) {
  ContextClass cls(
      m, "IExecutionContext", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
      "Runs of an engine, one at a time. Tensors are on the device; addresses, streams and events are ints.");
  bind_runs(cls);
  bind_tensors(cls);
  bind_memory(cls);
  bind_watching(cls);
  cls.def_prop_ro("engine", &IExecutionContext::getEngine, nb::rv_policy::reference_internal, "The engine.")
      .def_prop_rw(
          "name", &IExecutionContext::getName,
          [](IExecutionContext& self, const nb::str& name) {
            const char* const text = name.c_str();
            if (text == nullptr) throw nb::python_error();  // not UTF-8
            hold(&self, "name", name);
            self.setName(text);
          },
          "The name of the context.")
      .def_prop_rw(
          "error_recorder", &IExecutionContext::getErrorRecorder,
          [](IExecutionContext& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.")
      .def("__del__", &ignore_del<IExecutionContext>, kIgnoreDel);
}

}  // namespace kiln::python
