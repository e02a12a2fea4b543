// ICudaEngine: a network that was built.

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

using nvinfer1::Dims, nvinfer1::ExecutionContextAllocationStrategy, nvinfer1::ICudaEngine, nvinfer1::IErrorRecorder,
    nvinfer1::IRuntimeConfig, nvinfer1::ISerializationConfig, nvinfer1::OptProfileSelector;

using EngineClass = nb::class_<ICudaEngine>;
using EngineSelf = nb::handle_t<ICudaEngine>;

constexpr OptProfileSelector kSelectors[] = {OptProfileSelector::kMIN, OptProfileSelector::kOPT,
                                             OptProfileSelector::kMAX};

const char* name_at(const ICudaEngine& self, int32_t index) {
  const int32_t count = self.getNbIOTensors();
  const int32_t place = index < 0 ? index + count : index;
  if (place < 0 || place >= count)
    throw nb::index_error(str("index ", index, " is outside of the engine's ", count, " tensors").c_str());
  return self.getIOTensorName(place);
}

std::vector<Dims> profile_shapes(const ICudaEngine& self, const char* name, int32_t profile) {
  std::vector<Dims> shapes;
  for (const OptProfileSelector which : kSelectors) shapes.push_back(self.getProfileShape(name, profile, which));
  return shapes;
}

std::vector<std::vector<int64_t>> profile_values(const ICudaEngine& self, const char* name, int32_t profile) {
  if (!self.isShapeInferenceIO(name) || self.getTensorIOMode(name) != nvinfer1::TensorIOMode::kINPUT)
    throw std::runtime_error(str("'", name, "' is no shape input"));
  const Dims shape = self.getTensorShape(name);
  int64_t count = shape.nbDims < 0 ? -1 : 1;
  for (int32_t i = 0; i < shape.nbDims; ++i) count *= shape.d[i];
  if (count < 0) throw std::runtime_error(str("the shape ", to_text(shape), " of '", name, "' is not fixed"));
  std::vector<std::vector<int64_t>> result;
  for (const OptProfileSelector which : kSelectors) {
    const int64_t* values = self.getProfileTensorValuesV2(name, profile, which);
    if (values == nullptr) return {};
    result.emplace_back(values, values + count);
  }
  return result;
}

/// A getter of a tensor's property, with and without a profile.
template <class Result>
void def_by_profile(EngineClass& cls, const char* name, Result (ICudaEngine::*get)(const char*) const noexcept,
                    Result (ICudaEngine::*get_of_profile)(const char*, int32_t) const noexcept, const char* doc) {
  cls.def(
         name, [get](const ICudaEngine& self, const char* tensor) { return (self.*get)(tensor); }, "name"_a, doc)
      .def(
          name,
          [get_of_profile](const ICudaEngine& self, const char* tensor, int32_t profile) {
            return (self.*get_of_profile)(tensor, profile);
          },
          "name"_a, "profile_index"_a, doc);
}

void bind_contexts(EngineClass& cls) {
  cls.def(
         "create_execution_context",
         [](EngineSelf self, ExecutionContextAllocationStrategy strategy) {
           auto& engine = as(self);
           return give(without_gil(engine, [&] { return engine.createExecutionContext(strategy); }), {self});
         },
         "strategy"_a = ExecutionContextAllocationStrategy::kSTATIC, "Makes a context; None where that fails.")
      .def(
          "create_execution_context",
          [](EngineSelf self, IRuntimeConfig* config) {
            auto& engine = as(self);
            return give(without_gil(engine, [&] { return engine.createExecutionContext(config); }), {self});
          },
          "runtime_config"_a.none() = nb::none(), "Makes a context of a configuration; None where that fails.")
      .def(
          "create_execution_context_without_device_memory",
          [](EngineSelf self) {
            deprecated("create_execution_context_without_device_memory is deprecated: use create_execution_context");
            auto& engine = as(self);
            return give(without_gil(engine, [&] { return engine.createExecutionContextWithoutDeviceMemory(); }),
                        {self});
          },
          "Makes a context whose memory the program gives. Deprecated.")
      .def(
          "create_runtime_config", [](EngineSelf self) { return give(as(self).createRuntimeConfig(), {self}); },
          "Makes a configuration for contexts.")
      .def(
          "create_engine_inspector", [](EngineSelf self) { return give(as(self).createEngineInspector(), {self}); },
          "Makes what tells of the engine's layers.");
}

void bind_serializing(EngineClass& cls) {
  cls.def(
         "serialize",
         [](const ICudaEngine& self) { return give(without_gil(self, [&] { return self.serialize(); }), {}); },
         "Writes the engine's plan.")
      .def(
          "create_serialization_config",
          [](EngineSelf self) { return give(as(self).createSerializationConfig(), {self}); },
          "Makes a configuration for serialize_with_config.")
      .def(
          "serialize_with_config",
          [](const ICudaEngine& self, ISerializationConfig& config) {
            return give(without_gil(self, [&] { return self.serializeWithConfig(config); }), {});
          },
          "arg0"_a, "Writes the engine's plan as a configuration says.");
}

void bind_tensors(EngineClass& cls) {
  cls.def("__getitem__", &name_at, "arg0"_a, "The name of a tensor; negative indices count from the back.")
      .def_prop_ro("num_io_tensors", &ICudaEngine::getNbIOTensors, "The number of inputs and outputs.")
      .def("get_tensor_name", &ICudaEngine::getIOTensorName, "index"_a, "The name of a tensor; None out of range.")
      .def("get_tensor_mode", &ICudaEngine::getTensorIOMode, "name"_a, "Whether a tensor is an input or an output.")
      .def("is_shape_inference_io", &ICudaEngine::isShapeInferenceIO, "name"_a,
           "Whether a tensor's values decide shapes; the host's memory has them then.")
      .def("get_tensor_shape", &ICudaEngine::getTensorShape, "name"_a, "A tensor's shape; -1 where an extent is free.")
      .def("get_tensor_dtype", &ICudaEngine::getTensorDataType, "name"_a, "The type of a tensor's elements.")
      .def("get_tensor_location", &ICudaEngine::getTensorLocation, "name"_a, "Which memory has a tensor.")
      .def("get_tensor_profile_shape", &profile_shapes, "name"_a, "profile_index"_a,
           "The smallest, the likely and the largest shape of an input.")
      .def("get_tensor_profile_values", &profile_values, "name"_a, "profile_index"_a,
           "The three lists of values of a shape input.")
      .def(
          "get_tensor_profile_values",
          [](const ICudaEngine& self, int32_t profile, const char* name) {
            return profile_values(self, name, profile);
          },
          "name"_a, "profile_index"_a,
          "The three lists of values, for programs that name the profile first, as TensorRT's module has it.")
      .def("get_aliased_input_tensor", &ICudaEngine::getAliasedInputTensor, "name"_a,
           "The name of the input whose memory an output is written to, or None.")
      .def("is_debug_tensor", &ICudaEngine::isDebugTensor, "name"_a, "Whether a tensor was marked for debugging.");
  def_by_profile<int32_t>(cls, "get_tensor_bytes_per_component", &ICudaEngine::getTensorBytesPerComponent,
                          &ICudaEngine::getTensorBytesPerComponent,
                          "The bytes of an element in a format of vectors; -1 for others.");
  def_by_profile<int32_t>(cls, "get_tensor_components_per_element", &ICudaEngine::getTensorComponentsPerElement,
                          &ICudaEngine::getTensorComponentsPerElement,
                          "The elements of a vector of the tensor's format; -1 for formats without vectors.");
  def_by_profile<nvinfer1::TensorFormat>(cls, "get_tensor_format", &ICudaEngine::getTensorFormat,
                                         &ICudaEngine::getTensorFormat, "The tensor's format.");
  def_by_profile<const char*>(cls, "get_tensor_format_desc", &ICudaEngine::getTensorFormatDesc,
                              &ICudaEngine::getTensorFormatDesc, "The tensor's format in words.");
  def_by_profile<int32_t>(cls, "get_tensor_vectorized_dim", &ICudaEngine::getTensorVectorizedDim,
                          &ICudaEngine::getTensorVectorizedDim, "The axis of the format's vectors; -1 for none.");
}

void bind_memory(EngineClass& cls) {
  cls.def(
         "get_device_memory_size_for_profile",
         [](const ICudaEngine& self, int32_t profile_index) {
           deprecated("get_device_memory_size_for_profile is deprecated: use get_device_memory_size_for_profile_v2");
           return self.getDeviceMemorySizeForProfile(profile_index);
         },
         "profile_index"_a, "The bytes of memory that a context needs for a profile. Deprecated.")
      .def_prop_ro(
          "device_memory_size",
          [](const ICudaEngine& self) {
            deprecated("device_memory_size is deprecated: use device_memory_size_v2");
            return self.getDeviceMemorySize();
          },
          "The bytes of memory that a context needs. Deprecated.")
      .def("get_device_memory_size_for_profile_v2", &ICudaEngine::getDeviceMemorySizeForProfileV2, "profile_index"_a,
           "The bytes of memory that a context needs for a profile.")
      .def_prop_ro("device_memory_size_v2", &ICudaEngine::getDeviceMemorySizeV2,
                   "The bytes of memory that a context needs for any profile.")
      .def_prop_rw(
          "weight_streaming_budget",
          [](const ICudaEngine& self) {
            deprecated("weight_streaming_budget is deprecated: use weight_streaming_budget_v2");
            return self.getWeightStreamingBudget();
          },
          [](ICudaEngine& self, int64_t bytes) {
            deprecated("weight_streaming_budget is deprecated: use weight_streaming_budget_v2");
            return self.setWeightStreamingBudget(bytes);
          },
          "The bytes of the device's memory for weights that stream. Deprecated.")
      .def_prop_ro(
          "minimum_weight_streaming_budget",
          [](const ICudaEngine& self) {
            deprecated("minimum_weight_streaming_budget is deprecated: weight_streaming_budget_v2 does not need it");
            return self.getMinimumWeightStreamingBudget();
          },
          "The least bytes for weights that stream. Deprecated.")
      .def_prop_rw("weight_streaming_budget_v2", &ICudaEngine::getWeightStreamingBudgetV2,
                   &ICudaEngine::setWeightStreamingBudgetV2,
                   "The bytes of the device's memory for weights that stream; the rest stays in the host's.")
      .def_prop_ro("streamable_weights_size", &ICudaEngine::getStreamableWeightsSize,
                   "The bytes of weights that can stream.")
      .def("get_weight_streaming_automatic_budget", &ICudaEngine::getWeightStreamingAutomaticBudget,
           "A budget that fits the memory that is free.")
      .def_prop_ro("weight_streaming_scratch_memory_size", &ICudaEngine::getWeightStreamingScratchMemorySize,
                   "The bytes that a context needs more when weights stream.")
      .def("get_engine_stat", &ICudaEngine::getEngineStat, "stat"_a = nvinfer1::EngineStat::kTOTAL_WEIGHTS_SIZE,
           "A figure of the engine.");
}

}  // namespace

void bind_engine(nb::module_& m) {
  EngineClass cls(m, "ICudaEngine", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                  "A network that was built, ready to run.");
  bind_contexts(cls);
  bind_serializing(cls);
  bind_tensors(cls);
  bind_memory(cls);
  cls.def_prop_ro(
         "has_implicit_batch_dimension",
         [](const ICudaEngine& self) {
           deprecated("has_implicit_batch_dimension is deprecated: no network has one");
           return self.hasImplicitBatchDimension();
         },
         "False. Deprecated.")
      .def_prop_ro("num_layers", &ICudaEngine::getNbLayers, "The number of layers after building.")
      .def_prop_ro("refittable", &ICudaEngine::isRefittable, "Whether weights can be replaced.")
      .def_prop_ro("name", &ICudaEngine::getName, "The network's name.")
      .def_prop_ro("num_optimization_profiles", &ICudaEngine::getNbOptimizationProfiles, "The number of profiles.")
      .def_prop_ro("engine_capability", &ICudaEngine::getEngineCapability, "The kind of runtime that it is for.")
      .def_prop_rw(
          "error_recorder", &ICudaEngine::getErrorRecorder,
          [](ICudaEngine& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.")
      .def_prop_ro("tactic_sources", &ICudaEngine::getTacticSources, "Which libraries its kernels may come from.")
      .def_prop_ro("profiling_verbosity", &ICudaEngine::getProfilingVerbosity, "How much it tells of its layers.")
      .def_prop_ro("hardware_compatibility_level", &ICudaEngine::getHardwareCompatibilityLevel,
                   "On which other devices it runs.")
      .def_prop_ro("num_aux_streams", &ICudaEngine::getNbAuxStreams, "How many streams a run uses beside its own.")
      .def("__del__", &ignore_del<ICudaEngine>, kIgnoreDel);
}

}  // namespace kiln::python
