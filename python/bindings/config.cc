// IBuilderConfig: how an engine is to be built.

#include <NvInfer.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "build_watch.h"
#include "callback.h"
#include "convert.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::IAlgorithmSelector, nvinfer1::IBuilderConfig, nvinfer1::IInt8Calibrator, nvinfer1::ILayer,
    nvinfer1::IOptimizationProfile, nvinfer1::IProgressMonitor, nvinfer1::ITimingCache;

using ConfigClass = nb::class_<IBuilderConfig>;

constexpr const char* kEditableCache = "algorithm selectors are deprecated: use an editable timing cache";

std::vector<std::string> plugins_to_serialize(const IBuilderConfig& self) {
  std::vector<std::string> paths;
  const int32_t count = self.getNbPluginsToSerialize();
  for (int32_t i = 0; i < count; ++i) paths.emplace_back(self.getPluginToSerialize(i));
  return paths;
}

void set_plugins_to_serialize(IBuilderConfig& self, const std::vector<std::string>& paths) {
  std::vector<const char*> texts;
  for (const std::string& path : paths) texts.push_back(path.c_str());
  self.setPluginsToSerialize(texts.data(), static_cast<int32_t>(texts.size()));
}

Given<ITimingCache> create_timing_cache(nb::handle_t<IBuilderConfig> self,
                                        const BufferObject& serialized_timing_cache) {
  const Buffer bytes(serialized_timing_cache);
  auto& config = as(self);
  ITimingCache* cache = without_gil(config, [&] { return config.createTimingCache(bytes.data(), bytes.size_bytes()); });
  return give_beside(cache, self);
}

void bind_flags(ConfigClass& cls) {
  cls.def_prop_rw("flags", &IBuilderConfig::getFlags, &IBuilderConfig::setFlags,
                  "All choices of BuilderFlag, a bit each: 1 << int(flag).")
      .def("clear_flag", &IBuilderConfig::clearFlag, "flag"_a, "Takes a choice back.")
      .def("set_flag", &IBuilderConfig::setFlag, "flag"_a, "Makes a choice.")
      .def("get_flag", &IBuilderConfig::getFlag, "flag"_a, "Whether a choice was made.")
      .def_prop_rw("quantization_flags", &IBuilderConfig::getQuantizationFlags, &IBuilderConfig::setQuantizationFlags,
                   "All choices of QuantizationFlag, a bit each. Deprecated.")
      .def("clear_quantization_flag", &IBuilderConfig::clearQuantizationFlag, "flag"_a,
           "Takes a choice of quantization back. Deprecated.")
      .def("set_quantization_flag", &IBuilderConfig::setQuantizationFlag, "flag"_a,
           "Makes a choice of quantization. Deprecated.")
      .def("get_quantization_flag", &IBuilderConfig::getQuantizationFlag, "flag"_a,
           "Whether a choice of quantization was made. Deprecated.")
      .def("set_preview_feature", &IBuilderConfig::setPreviewFeature, "feature"_a, "enable"_a,
           "Switches a feature that is not the rule yet on or off.")
      .def("get_preview_feature", &IBuilderConfig::getPreviewFeature, "feature"_a, "Whether a feature is on.");
}

void bind_devices(ConfigClass& cls) {
  cls.def_prop_rw("default_device_type", &IBuilderConfig::getDefaultDeviceType, &IBuilderConfig::setDefaultDeviceType,
                  "The kind of processor of layers that have none set.")
      .def_prop_rw("DLA_core", &IBuilderConfig::getDLACore, &IBuilderConfig::setDLACore,
                   "The number of the accelerator that the engine runs on; -1 for none.")
      .def("set_device_type", &IBuilderConfig::setDeviceType, "layer"_a, "device_type"_a,
           "Sets the kind of processor that a layer runs on.")
      .def("get_device_type", &IBuilderConfig::getDeviceType, "layer"_a, "The kind of processor that a layer runs on.")
      .def("is_device_type_set", &IBuilderConfig::isDeviceTypeSet, "layer"_a,
           "Whether a layer's kind of processor was set.")
      .def("reset_device_type", &IBuilderConfig::resetDeviceType, "layer"_a,
           "Takes back what set_device_type has set for a layer.")
      .def("can_run_on_DLA", &IBuilderConfig::canRunOnDLA, "layer"_a, "Whether a layer can run on an accelerator.")
      .def_prop_rw(
          "profile_stream", [](const IBuilderConfig& self) { return to_address(self.getProfileStream()); },
          [](IBuilderConfig& self, size_t stream) { self.setProfileStream(to_stream(stream)); },
          "The stream that tactics are timed on, an int.");
}

/// Properties for objects that the program implements and the build calls.
void bind_callbacks(ConfigClass& cls) {
  cls.def_prop_rw(
         "int8_calibrator",
         [](const IBuilderConfig& self) {
           deprecated(kExplicitQuantization);
           return self.getInt8Calibrator();
         },
         [](IBuilderConfig& self, IInt8Calibrator* calibrator) {
           deprecated(kExplicitQuantization);
           self.setInt8Calibrator(calibrator);
           hold_item(&self, "int8_calibrator", calibrator);
         },
         set_or_none(), "The calibrator of INT8. Deprecated.")
      .def_prop_rw(
          "algorithm_selector",
          [](const IBuilderConfig& self) {
            deprecated(kEditableCache);
            return self.getAlgorithmSelector();
          },
          [](IBuilderConfig& self, IAlgorithmSelector* selector) {
            deprecated(kEditableCache);
            self.setAlgorithmSelector(selector);
            hold_item(&self, "algorithm_selector", selector);
          },
          set_or_none(), "What chooses among tactics. Deprecated.")
      .def_prop_rw(
          "progress_monitor", &program_monitor,
          [](IBuilderConfig& self, IProgressMonitor* monitor) {
            self.setProgressMonitor(monitor);
            hold_item(&self, "progress_monitor", monitor);
          },
          set_or_none(), "What follows the build, or None.");
}

void bind_profiles(ConfigClass& cls) {
  cls.def("add_optimization_profile", &IBuilderConfig::addOptimizationProfile, "profile"_a, nb::keep_alive<1, 2>(),
          "Adds a profile and answers its index; -1 where it is not valid.")
      .def(
          "set_calibration_profile",
          [](IBuilderConfig& self, const IOptimizationProfile* profile) {
            deprecated(kExplicitQuantization);
            return self.setCalibrationProfile(profile);
          },
          "profile"_a, nb::keep_alive<1, 2>(), "Sets the shapes to calibrate with. Deprecated.")
      .def(
          "get_calibration_profile",
          [](IBuilderConfig& self) {
            deprecated(kExplicitQuantization);
            return self.getCalibrationProfile();
          },
          nb::rv_policy::reference_internal, "The shapes to calibrate with, or None. Deprecated.")
      .def_prop_ro("num_optimization_profiles", &IBuilderConfig::getNbOptimizationProfiles, "The number of profiles.");
}

void bind_timing(ConfigClass& cls) {
  cls.def_prop_rw("avg_timing_iterations", &IBuilderConfig::getAvgTimingIterations,
                  &IBuilderConfig::setAvgTimingIterations, "How many runs of a tactic are averaged.")
      .def("set_tactic_sources", &IBuilderConfig::setTacticSources, "tactic_sources"_a,
           "Sets which libraries kernels may come from, a bit each: 1 << int(source).")
      .def("get_tactic_sources", &IBuilderConfig::getTacticSources,
           "Which libraries kernels may come from, a bit each.")
      .def("create_timing_cache", &create_timing_cache, "serialized_timing_cache"_a,
           "Makes a timing cache of what ITimingCache.serialize wrote, or an empty one of b''. None for damaged bytes.")
      .def(
          "set_timing_cache",
          [](IBuilderConfig& self, const ITimingCache& cache, bool ignore_mismatch) {
            const bool is_set = self.setTimingCache(cache, ignore_mismatch);
            if (is_set) hold_item(&self, "timing_cache", &cache);
            return is_set;
          },
          "cache"_a, "ignore_mismatch"_a,
          "Builds use the cache and add to it; False, unless mismatches are to be ignored, for another device's.")
      .def("get_timing_cache", &IBuilderConfig::getTimingCache, nb::rv_policy::reference_internal,
           "The timing cache in use, or None.")
      .def_prop_rw("max_num_tactics", &IBuilderConfig::getMaxNbTactics, &IBuilderConfig::setMaxNbTactics,
                   "The most tactics that are timed for a layer; -1 leaves it to the builder.")
      .def_prop_rw("builder_optimization_level", &IBuilderConfig::getBuilderOptimizationLevel,
                   &IBuilderConfig::setBuilderOptimizationLevel,
                   "How long a build may look for faster engines: 0 to 5.")
      .def_prop_rw("tiling_optimization_level", &IBuilderConfig::getTilingOptimizationLevel,
                   &IBuilderConfig::setTilingOptimizationLevel, "How hard a build looks for tilings.")
      .def_prop_rw("l2_limit_for_tiling", &IBuilderConfig::getL2LimitForTiling, &IBuilderConfig::setL2LimitForTiling,
                   "The bytes of cache that tilings may take.")
      .def_prop_rw("remote_auto_tuning_config", &IBuilderConfig::getRemoteAutoTuningConfig,
                   &IBuilderConfig::setRemoteAutoTuningConfig, "Where tactics are timed instead of here.");
}

}  // namespace

void bind_config(nb::module_& m) {
  ConfigClass cls(m, "IBuilderConfig", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                  "How an engine is to be built.");
  bind_flags(cls);
  bind_devices(cls);
  bind_callbacks(cls);
  bind_profiles(cls);
  bind_timing(cls);
  cls.def_prop_rw("engine_capability", &IBuilderConfig::getEngineCapability, &IBuilderConfig::setEngineCapability,
                  "The kind of runtime that the engine is for.")
      .def("set_memory_pool_limit", &IBuilderConfig::setMemoryPoolLimit, "pool"_a, "pool_size"_a,
           "Sets the most bytes that a pool may take.")
      .def("get_memory_pool_limit", &IBuilderConfig::getMemoryPoolLimit, "pool"_a,
           "The most bytes that a pool may take.")
      .def("reset", &IBuilderConfig::reset, "Takes all settings back.")
      .def_prop_rw("profiling_verbosity", &IBuilderConfig::getProfilingVerbosity,
                   &IBuilderConfig::setProfilingVerbosity, "How much engines tell of their layers.")
      .def_prop_rw("hardware_compatibility_level", &IBuilderConfig::getHardwareCompatibilityLevel,
                   &IBuilderConfig::setHardwareCompatibilityLevel, "On which other devices the engine has to run.")
      .def_prop_rw("runtime_platform", &IBuilderConfig::getRuntimePlatform, &IBuilderConfig::setRuntimePlatform,
                   "The system that the engine is for.")
      .def_prop_rw("plugins_to_serialize", &plugins_to_serialize, &set_plugins_to_serialize,
                   "The paths of plugin libraries that go into the plan.")
      .def_prop_rw("max_aux_streams", &IBuilderConfig::getMaxAuxStreams, &IBuilderConfig::setMaxAuxStreams,
                   "The most streams that a run uses beside its own; -1 leaves it to the builder.")
      .def("__del__", &ignore_del<IBuilderConfig>, kIgnoreDel);
}

}  // namespace kiln::python
