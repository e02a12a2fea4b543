// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Algorithm selectors, which programs derive, and what they are shown.

#include <NvInfer.h>

#include <algorithm>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::APILanguage, nvinfer1::Dims, nvinfer1::OptProfileSelector;
using nvinfer1::IAlgorithm, nvinfer1::IAlgorithmContext, nvinfer1::IAlgorithmIOInfo, nvinfer1::IAlgorithmSelector,
    nvinfer1::IAlgorithmVariant;

/// A list of objects that live during the call.
template <class T>
nb::list to_list(const T* const* items, int32_t count) {
  nb::list list;
  for (int32_t i = 0; i < count; ++i) list.append(nb::cast(items[i], nb::rv_policy::reference));
  return list;
}

class PythonAlgorithmSelector final : public IAlgorithmSelector {
 public:
  NB_TRAMPOLINE(IAlgorithmSelector);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int32_t selectAlgorithms(const IAlgorithmContext& context, const IAlgorithm* const* choices, int32_t num_choices,
                           int32_t* selection) noexcept override {
    return call(
        nb_trampoline, {"IAlgorithmSelector", "select_algorithms"},
        [&](const nb::object& method) {
          const nb::object answer = method(nb::cast(&context, nb::rv_policy::reference), to_list(choices, num_choices));
          const auto chosen = nb::cast<std::vector<int32_t>>(answer);
          if (chosen.size() > static_cast<size_t>(num_choices))
            throw nb::value_error(str("chose ", chosen.size(), " of ", num_choices, " algorithms").c_str());
          std::copy(chosen.begin(), chosen.end(), selection);
          return static_cast<int32_t>(chosen.size());
        },
        -1);
  }
  void reportAlgorithms(const IAlgorithmContext* const* contexts, const IAlgorithm* const* choices,
                        int32_t count) noexcept override {
    call<void>(nb_trampoline, {"IAlgorithmSelector", "report_algorithms"},
               [&](const nb::object& method) { method(to_list(contexts, count), to_list(choices, count)); });
  }
};

std::vector<Dims> get_shape(const IAlgorithmContext& self, int32_t index) {
  std::vector<Dims> shapes;
  if (self.getDimensions(index, OptProfileSelector::kMIN).nbDims < 0) return shapes;
  for (const auto which : {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
    shapes.push_back(self.getDimensions(index, which));
  return shapes;
}

void bind_choices(nb::module_& m) {
  nb::class_<IAlgorithmIOInfo>(m, "IAlgorithmIOInfo", "An input or output of an algorithm.")
      .def_prop_ro("dtype", &IAlgorithmIOInfo::getDataType, "The type of its elements.")
      .def_prop_ro("strides", &IAlgorithmIOInfo::getStrides, "Its strides, in elements.")
      .def_prop_ro("vectorized_dim", &IAlgorithmIOInfo::getVectorizedDim, "The axis of its vectors; -1 for none.")
      .def_prop_ro("components_per_element", &IAlgorithmIOInfo::getComponentsPerElement, "The length of its vectors.");
  nb::class_<IAlgorithmVariant>(m, "IAlgorithmVariant", "Which implementation an algorithm is, and which tactic of it.")
      .def_prop_ro("implementation", &IAlgorithmVariant::getImplementation, "The implementation's number.")
      .def_prop_ro("tactic", &IAlgorithmVariant::getTactic, "The tactic's number.");
  nb::class_<IAlgorithmContext>(m, "IAlgorithmContext", "The layer that an algorithm is chosen for.")
      .def_prop_ro("name", &IAlgorithmContext::getName, "The layer's name.")
      .def("get_shape", &get_shape, "index"_a, "The smallest, the likely and the largest shape of an input or output.")
      .def_prop_ro("num_inputs", &IAlgorithmContext::getNbInputs, "The number of inputs.")
      .def_prop_ro("num_outputs", &IAlgorithmContext::getNbOutputs, "The number of outputs.");
  nb::class_<IAlgorithm>(m, "IAlgorithm", "A way to run a layer.")
      .def("get_algorithm_io_info", &IAlgorithm::getAlgorithmIOInfoByIndex, "index"_a,
           nb::rv_policy::reference_internal, "An input or output; inputs come first. None for an index out of range.")
      .def_prop_ro("algorithm_variant", &IAlgorithm::getAlgorithmVariant, "The implementation and the tactic.")
      .def_prop_ro("timing_msec", &IAlgorithm::getTimingMSec, "The measured time in milliseconds; 0 if there is none.")
      .def_prop_ro("workspace_size", &IAlgorithm::getWorkspaceSize, "The bytes of workspace.");
}

}  // namespace

void bind_algorithm(nb::module_& m) {
  bind_choices(m);
  nb::class_<IAlgorithmSelector, PythonAlgorithmSelector>(m, "IAlgorithmSelector", nb::is_weak_referenceable(),
                                                          "Chooses among the ways to run each layer. Derive it and "
                                                          "define its two methods. Deprecated: use an editable timing "
                                                          "cache.")
      .def(nb::init<>(), "Makes a selector, for classes that derive it.")
      .def(
          "select_algorithms",
          [](IAlgorithmSelector&, const IAlgorithmContext&, const nb::typed<nb::list, IAlgorithm>&)
              -> std::vector<int32_t> { throw_not_defined("IAlgorithmSelector.select_algorithms"); },
          "context"_a, "choices"_a, "To be defined: the indices of the choices to keep for a layer.")
      .def(
          "report_algorithms",
          [](IAlgorithmSelector&, const nb::typed<nb::list, IAlgorithmContext>&,
             const nb::typed<nb::list, IAlgorithm>&) {},
          "contexts"_a, "choices"_a, "Is told of the algorithm of each layer when a build ends.");
}

}  // namespace kiln::python
