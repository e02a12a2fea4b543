// Refitter: replaces an engine's weights.

#include <NvInfer.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "kept_weights.h"
#include "lifetime.h"

namespace kiln::python {
namespace {

using nvinfer1::ICudaEngine, nvinfer1::IErrorRecorder, nvinfer1::ILogger, nvinfer1::IRefitter, nvinfer1::TensorLocation,
    nvinfer1::Weights, nvinfer1::WeightsRole;

using RefitterClass = nb::class_<IRefitter>;
using Names = std::vector<std::string>;

Given<IRefitter> create_refitter(nb::handle_t<ICudaEngine> engine, nb::handle_t<ILogger> logger) {
  auto& to = as(logger);
  auto& of = as(engine);
  auto* refitter = without_gil([&] { return nvinfer1::createInferRefitter(of, to); });
  Given<IRefitter> result = give_new(refitter, {engine, logger}, "no refitter could be made; the log says why");
  remember_logger(logger, to);
  return result;
}

/// Names by one of the functions that answer how many there are and fill as many as there is room for.
template <class List>
Names names_of(List list) {
  std::vector<const char*> names(static_cast<size_t>(std::max(list(0, nullptr), 0)));
  list(static_cast<int32_t>(names.size()), names.data());
  return {names.begin(), names.end()};
}

/// Names as names_of has them, and the role of each.
template <class List>
std::pair<Names, std::vector<WeightsRole>> roles_of(List list) {
  const auto count = static_cast<size_t>(std::max(list(0, nullptr, nullptr), 0));
  std::vector<const char*> names(count);
  std::vector<WeightsRole> roles(count);
  list(static_cast<int32_t>(count), names.data(), roles.data());
  return {Names(names.begin(), names.end()), roles};
}

/// The refitter reads the memory later: it holds the Python object till then.
bool set_weights(IRefitter& self, const char* layer, WeightsRole role, const WeightsArgument& weights) {
  const bool is_set = self.setWeights(layer, role, weights.weights());
  if (is_set) hold(&self, str("weights of ", layer, " ", static_cast<int>(role)), weights.source());
  return is_set;
}

bool set_named_weights(IRefitter& self, const char* name, const WeightsArgument& weights,
                       std::optional<TensorLocation> location) {
  const Weights given = weights.weights();
  const bool is_set = location ? self.setNamedWeights(name, given, *location) : self.setNamedWeights(name, given);
  if (is_set) hold(&self, str("weights ", name), weights.source());
  return is_set;
}

void bind_names(RefitterClass& cls) {
  cls.def(
         "get_missing",
         [](IRefitter& self) { return roles_of([&](auto... args) { return self.getMissing(args...); }); },
         "The layers whose weights have to be set, and the role of each: two lists.")
      .def(
          "get_missing_weights",
          [](IRefitter& self) { return names_of([&](auto... args) { return self.getMissingWeights(args...); }); },
          "The names of the weights that have to be set.")
      .def(
          "get_all", [](IRefitter& self) { return roles_of([&](auto... args) { return self.getAll(args...); }); },
          "The layers whose weights can be set, and the role of each: two lists.")
      .def(
          "get_all_weights",
          [](IRefitter& self) { return names_of([&](auto... args) { return self.getAllWeights(args...); }); },
          "The names of the weights that can be set.");
}

void bind_ranges(RefitterClass& cls) {
  cls.def(
         "get_dynamic_range",
         [](const IRefitter& self, const char* tensor_name) {
           deprecated(kExplicitQuantization);
           return std::pair(self.getDynamicRangeMin(tensor_name), self.getDynamicRangeMax(tensor_name));
         },
         "tensor_name"_a, "The range of a tensor: its minimum and maximum. Deprecated.")
      .def(
          "set_dynamic_range",
          [](IRefitter& self, const char* tensor_name, const std::vector<float>& range) {
            deprecated(kExplicitQuantization);
            if (range.size() != 2)
              throw nb::value_error(str("a range is a minimum and a maximum, not ", range.size(), " numbers").c_str());
            return self.setDynamicRange(tensor_name, range[0], range[1]);
          },
          "tensor_name"_a, "range"_a, "Sets the range of a tensor: its minimum and maximum. Deprecated.")
      .def(
          "get_tensors_with_dynamic_range",
          [](const IRefitter& self) {
            deprecated(kExplicitQuantization);
            return names_of([&](auto... args) { return self.getTensorsWithDynamicRange(args...); });
          },
          "The names of the tensors that have a range. Deprecated.");
}

void bind_weights_of(RefitterClass& cls) {
  cls.def("set_weights", &set_weights, "layer_name"_a, "role"_a, "weights"_a,
          "Sets weights of a layer, of an array or Weights; they take effect when the engine is refitted.")
      .def(
          "set_named_weights",
          [](IRefitter& self, const char* name, const WeightsArgument& weights) {
            return set_named_weights(self, name, weights, std::nullopt);
          },
          "name"_a, "weights"_a, "Sets weights by their name; they take effect when the engine is refitted.")
      .def("set_named_weights", &set_named_weights, "name"_a, "weights"_a, "location"_a,
           "Sets weights by their name, of memory of the host or the device.")
      .def("get_named_weights", &IRefitter::getNamedWeights, "weights_name"_a, nb::keep_alive<0, 1>(),
           "The weights that were set by a name; of no elements where there are none.")
      .def("get_weights_location", &IRefitter::getWeightsLocation, "weights_name"_a,
           "Which memory the weights that were set are in.")
      .def("unset_named_weights", &IRefitter::unsetNamedWeights, "weights_name"_a, "Takes weights that were set back.")
      .def("get_weights_prototype", &IRefitter::getWeightsPrototype, "weights_name"_a,
           "The type and number of elements that weights have to have, without memory.")
      .def_prop_rw("weights_validation", &IRefitter::getWeightsValidation, &IRefitter::setWeightsValidation,
                   "Whether weights are checked when they are set.");
}

}  // namespace

void bind_refitter(nb::module_& m) {
  RefitterClass cls(m, "Refitter", nb::is_weak_referenceable(), nb::type_slots(kOwnerSlots),
                    "Replaces weights of an engine.");
  cls.def(nb::new_(&create_refitter), "engine"_a, "logger"_a, "Makes a refitter of an engine that is refittable.")
      .def(
          "refit_cuda_engine",
          [](IRefitter& self) { return without_gil(self, [&] { return self.refitCudaEngine(); }); },
          "Gives the engine the weights that were set, and waits; whether that worked.")
      .def(
          "refit_cuda_engine_async",
          [](IRefitter& self, size_t stream_handle) {
            return without_gil(self, [&] { return self.refitCudaEngineAsync(to_stream(stream_handle)); });
          },
          "stream_handle"_a, "Gives the engine the weights that were set, on a stream; whether that worked.")
      .def_prop_rw(
          "error_recorder", &IRefitter::getErrorRecorder,
          [](IRefitter& self, IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          set_or_none(), "What collects errors, or None.")
      .def_prop_ro("logger", &IRefitter::getLogger, "The logger.")
      .def_prop_rw("max_threads", &IRefitter::getMaxThreads, &IRefitter::setMaxThreads,
                   "The most threads that it uses.")
      .def("__del__", &ignore_del<IRefitter>, kIgnoreDel);
  bind_names(cls);
  bind_weights_of(cls);
  bind_ranges(cls);
}

}  // namespace kiln::python
