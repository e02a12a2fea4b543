// Builder: makes networks and configurations, and engines of them.

#include <NvInfer.h>

#include "bindings.h"
#include "build_watch.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::IBuilder, nvinfer1::IBuilderConfig, nvinfer1::IErrorRecorder, nvinfer1::IGpuAllocator,
    nvinfer1::IHostMemory, nvinfer1::ILogger, nvinfer1::INetworkDefinition, nvinfer1::IStreamWriter;

using BuilderClass = nb::class_<IBuilder>;

Given<IBuilder> create_builder(nb::handle_t<ILogger> logger) {
  auto& to = as(logger);
  Given<IBuilder> builder = give_new(without_gil([&] { return nvinfer1::createInferBuilder(to); }), {logger},
                                     "no builder could be made; the log says why");
  remember_logger(logger, to);
  return builder;
}

void bind_building(BuilderClass& cls) {
  cls.def(
         "build_serialized_network",
         [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
           return give(build_without_gil(self, config, [&] { return self.buildSerializedNetwork(network, config); }),
                       {});
         },
         "network"_a, "config"_a, "Builds an engine and answers its plan, an IHostMemory; None where that fails.")
      .def(
          "build_serialized_network",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config, nb::handle) {
            IHostMemory* text = nullptr;
            Given<IHostMemory> plan = give(
                build_without_gil(self, config, [&] { return self.buildSerializedNetwork(network, config, text); }),
                {});
            give(text, {});
            return plan;
          },
          "network"_a, "config"_a, "kernel_text"_a.none(),
          "Builds a plan as the call without `kernel_text`, which is there for TensorRT's sake: Python cannot set it.")
      .def(
          "build_serialized_network_to_stream",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config, IStreamWriter& writer) {
            return build_without_gil(self, config,
                                     [&] { return self.buildSerializedNetworkToStream(network, config, writer); });
          },
          "network"_a, "config"_a, "writer"_a, "Builds an engine and gives its plan to a writer; whether that worked.")
      .def(
          "build_engine_with_config",
          [](nb::handle_t<IBuilder> self, INetworkDefinition& network, IBuilderConfig& config) {
            auto& builder = as(self);
            return give(
                build_without_gil(builder, config, [&] { return builder.buildEngineWithConfig(network, config); }),
                {self});
          },
          "network"_a, "config"_a, "Builds an engine; None where that fails.")
      .def(
          "is_network_supported",
          [](IBuilder& self, INetworkDefinition& network, IBuilderConfig& config) {
            return without_gil(self, [&] { return self.isNetworkSupported(network, config); });
          },
          "network"_a, "config"_a, "Whether the network can be built; the log says what cannot.");
}

}  // namespace

void bind_builder(nb::module_& m) {
  BuilderClass cls(m, "Builder", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                   "Makes networks and configurations, and engines of them.");
  cls.def(nb::new_(&create_builder), "logger"_a, "Makes a builder that writes to a logger.")
      .def(
          "create_network",
          [](nb::handle_t<IBuilder> self, uint32_t flags) {
            auto& builder = as(self);
            return give(without_gil(builder, [&] { return builder.createNetworkV2(flags); }), {self});
          },
          "flags"_a = 0U, "Makes an empty network; flags are bits 1 << int(NetworkDefinitionCreationFlag).")
      .def(
          "create_builder_config",
          [](nb::handle_t<IBuilder> self) {
            auto& builder = as(self);
            return give(without_gil(builder, [&] { return builder.createBuilderConfig(); }), {self});
          },
          "Makes a configuration with the defaults.")
      .def(
          "create_optimization_profile",
          [](IBuilder& self) {
            nvinfer1::IOptimizationProfile* const profile = self.createOptimizationProfile();
            hold_recorder_for(&self, profile);
            return profile;
          },
          nb::rv_policy::reference_internal, "Makes an empty profile, which the builder owns.")
      .def_prop_ro("platform_has_tf32", &IBuilder::platformHasTf32, "Whether the device has TF32. Deprecated.")
      .def_prop_ro("platform_has_fast_fp16", &IBuilder::platformHasFastFp16,
                   "Whether FP16 is faster than FP32 on the device. Deprecated.")
      .def_prop_ro("platform_has_fast_int8", &IBuilder::platformHasFastInt8,
                   "Whether INT8 is faster than FP32 on the device. Deprecated.")
      .def_prop_ro("max_DLA_batch_size", &IBuilder::getMaxDLABatchSize, "The largest batch of an accelerator.")
      .def_prop_ro("num_DLA_cores", &IBuilder::getNbDLACores, "The number of accelerators.")
      .def_prop_rw(
          "gpu_allocator", nullptr,
          [](IBuilder& self, IGpuAllocator* allocator) {
            self.setGpuAllocator(allocator);
            hold_item_too(&self, "gpu_allocator ", allocator);
          },
          set_or_none(), "What gives the device's memory; it can only be set. None is the library's own.")
      .def_prop_rw(
          "error_recorder", &IBuilder::getErrorRecorder,
          [](IBuilder& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.")
      .def_prop_ro("logger", &IBuilder::getLogger, "The logger.")
      .def_prop_rw("max_threads", &IBuilder::getMaxThreads, &IBuilder::setMaxThreads, "The most threads that it uses.")
      .def("reset", &IBuilder::reset, "Takes all settings back.")
      .def("get_plugin_registry", &IBuilder::getPluginRegistry, nb::rv_policy::reference_internal,
           "The registry of plugins of this builder's networks.")
      .def("__del__", &ignore_del<IBuilder>, kIgnoreDel);
  bind_building(cls);
}

}  // namespace kiln::python
