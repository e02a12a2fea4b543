// Algorithm selectors, which programs derive, and what they are shown.

#include <NvInfer.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "convert.h"

namespace kiln::python {
namespace {

using nvinfer1::APILanguage, nvinfer1::Dims, nvinfer1::OptProfileSelector;
using nvinfer1::IAlgorithm, nvinfer1::IAlgorithmContext, nvinfer1::IAlgorithmIOInfo, nvinfer1::IAlgorithmSelector,
    nvinfer1::IAlgorithmVariant;

/// A call of a selector. What it shows of the library ends with it.
struct SelectorCall {
  bool is_open = true;
};

/// An object of the library as Python has it, which may keep it for longer than the call.
template <class T>
struct OfSelection {
  const T* object;
  std::shared_ptr<const SelectorCall> call;

  const T& get() const {
    if (!call->is_open)
      throw std::runtime_error("an algorithm or its context is used after the call that it was given to");
    return *object;
  }
  /// Calls a getter of T. An object that it answers ends with the call, too.
  template <auto kGet>
  auto ask() const {
    using Answer = decltype((get().*kGet)());
    if constexpr (std::is_reference_v<Answer>)
      return OfSelection<std::remove_cvref_t<Answer>>{&(get().*kGet)(), call};
    else
      return (get().*kGet)();
  }
};
using Context = OfSelection<IAlgorithmContext>;
using Choice = OfSelection<IAlgorithm>;
using IoInfo = OfSelection<IAlgorithmIOInfo>;
using Variant = OfSelection<IAlgorithmVariant>;

/// Makes objects of a call, and closes it with the block that made it.
class SelectorScope {
 public:
  SelectorScope() = default;
  SelectorScope(const SelectorScope&) = delete;
  SelectorScope& operator=(const SelectorScope&) = delete;
  ~SelectorScope() { call_->is_open = false; }

  template <class T>
  nb::object show(const T& item) const {
    return nb::cast(OfSelection<T>{&item, call_});
  }
  template <class T>
  nb::list list_of(const T* const* items, int32_t count) const {
    nb::list list;
    for (int32_t i = 0; i < count; ++i) list.append(show(*items[i]));
    return list;
  }

 private:
  const std::shared_ptr<SelectorCall> call_ = std::make_shared<SelectorCall>();
};

class PythonAlgorithmSelector final : public IAlgorithmSelector {
 public:
  NB_TRAMPOLINE(IAlgorithmSelector);
  APILanguage getAPILanguage() const noexcept override { return APILanguage::kPYTHON; }
  int32_t selectAlgorithms(const IAlgorithmContext& context, const IAlgorithm* const* choices, int32_t num_choices,
                           int32_t* selection) noexcept override {
    return call(
        nb_trampoline, {"IAlgorithmSelector", "select_algorithms"},
        [&](const nb::object& method) {
          const SelectorScope scope;
          const nb::object answer = method(scope.show(context), scope.list_of(choices, num_choices));
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
    call<void>(nb_trampoline, {"IAlgorithmSelector", "report_algorithms"}, [&](const nb::object& method) {
      const SelectorScope scope;
      method(scope.list_of(contexts, count), scope.list_of(choices, count));
    });
  }
};

std::vector<Dims> get_shape(const Context& self, int32_t index) {
  const IAlgorithmContext& context = self.get();
  std::vector<Dims> shapes;
  if (context.getDimensions(index, OptProfileSelector::kMIN).nbDims < 0) return shapes;
  for (const auto which : {OptProfileSelector::kMIN, OptProfileSelector::kOPT, OptProfileSelector::kMAX})
    shapes.push_back(context.getDimensions(index, which));
  return shapes;
}

std::optional<IoInfo> get_io_info(const Choice& self, int32_t index) {
  const IAlgorithmIOInfo* const info = self.get().getAlgorithmIOInfoByIndex(index);
  return info == nullptr ? std::nullopt : std::optional(IoInfo{info, self.call});
}

void bind_choices(nb::module_& m) {
  nb::class_<IoInfo>(m, "IAlgorithmIOInfo", "An input or output of an algorithm.")
      .def_prop_ro("dtype", &IoInfo::ask<&IAlgorithmIOInfo::getDataType>, "The type of its elements.")
      .def_prop_ro("strides", &IoInfo::ask<&IAlgorithmIOInfo::getStrides>, "Its strides, in elements.")
      .def_prop_ro("vectorized_dim", &IoInfo::ask<&IAlgorithmIOInfo::getVectorizedDim>,
                   "The axis of its vectors; -1 for none.")
      .def_prop_ro("components_per_element", &IoInfo::ask<&IAlgorithmIOInfo::getComponentsPerElement>,
                   "The length of its vectors.");
  nb::class_<Variant>(m, "IAlgorithmVariant", "Which implementation an algorithm is, and which tactic of it.")
      .def_prop_ro("implementation", &Variant::ask<&IAlgorithmVariant::getImplementation>,
                   "The implementation's number.")
      .def_prop_ro("tactic", &Variant::ask<&IAlgorithmVariant::getTactic>, "The tactic's number.");
  nb::class_<Context>(m, "IAlgorithmContext", "The layer that an algorithm is chosen for.")
      .def_prop_ro("name", &Context::ask<&IAlgorithmContext::getName>, "The layer's name.")
      .def("get_shape", &get_shape, "index"_a, "The smallest, the likely and the largest shape of an input or output.")
      .def_prop_ro("num_inputs", &Context::ask<&IAlgorithmContext::getNbInputs>, "The number of inputs.")
      .def_prop_ro("num_outputs", &Context::ask<&IAlgorithmContext::getNbOutputs>, "The number of outputs.");
  nb::class_<Choice>(m, "IAlgorithm", "A way to run a layer.")
      .def("get_algorithm_io_info", &get_io_info, "index"_a,
           "An input or output; inputs come first. None for an index out of range.")
      .def_prop_ro("algorithm_variant", &Choice::ask<&IAlgorithm::getAlgorithmVariant>,
                   "The implementation and the tactic.")
      .def_prop_ro("timing_msec", &Choice::ask<&IAlgorithm::getTimingMSec>,
                   "The measured time in milliseconds; 0 if there is none.")
      .def_prop_ro("workspace_size", &Choice::ask<&IAlgorithm::getWorkspaceSize>, "The bytes of workspace.");
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
          [](IAlgorithmSelector&, const Context&, const nb::typed<nb::list, Choice>&) -> std::vector<int32_t> {
            throw_not_defined("IAlgorithmSelector.select_algorithms");
          },
          "context"_a, "choices"_a, "To be defined: the indices of the choices to keep for a layer.")
      .def(
          "report_algorithms",
          [](IAlgorithmSelector&, const nb::typed<nb::list, Context>&, const nb::typed<nb::list, Choice>&) {},
          "contexts"_a, "choices"_a, "Is told of the algorithm of each layer when a build ends.");
}

}  // namespace kiln::python
