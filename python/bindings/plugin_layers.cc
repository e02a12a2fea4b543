// Layers of plugins, and the calls of INetworkDefinition that add them.
#include <NvInfer.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bindings.h"
#include "callback.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using Tensors = std::vector<nv::ITensor*>;

int32_t count_of(const Tensors& tensors) { return static_cast<int32_t>(tensors.size()); }

nv::IPluginV2Layer* add_v2(nv::INetworkDefinition& network, const Tensors& inputs, nb::handle plugin) {
  const BorrowedV2 borrowed(plugin);
  return without_gil(network, [&] { return network.addPluginV2(inputs.data(), count_of(inputs), *borrowed); });
}

nv::IPluginV3Layer* add_v3(nv::INetworkDefinition& network, const Tensors& inputs, const Tensors& shape_inputs,
                           nb::handle plugin) {
  const BorrowedV3 borrowed(plugin);
  return without_gil(network, [&] {
    return network.addPluginV3(inputs.data(), count_of(inputs), shape_inputs.data(), count_of(shape_inputs), *borrowed);
  });
}

/// Adds what a function of `tensorrt.plugin.op` returned: inputs, shape inputs and the plugin.
nv::IPluginV3Layer* add_parts(nv::INetworkDefinition& network, const nb::tuple& parts) {
  if (parts.size() != 3) throw nb::value_error("a tuple of inputs, shape inputs and a plugin is needed");
  Tensors inputs, shape_inputs;
  if (!nb::try_cast(nb::object(parts[0]), inputs) || !nb::try_cast(nb::object(parts[1]), shape_inputs))
    throw nb::type_error("inputs and shape inputs are lists of ITensor");
  return add_v3(network, inputs, shape_inputs, nb::object(parts[2]));
}

nv::IPluginV3Layer* add_made(nv::INetworkDefinition& network, const nb::callable& make,
                             nv::QuickPluginCreationRequest request) {
  const nb::object made = make(request);
  if (!nb::isinstance<nb::tuple>(made))
    throw nb::type_error("func did not return a tuple of inputs, shape inputs and a plugin");
  return add_parts(network, nb::borrow<nb::tuple>(made));
}

/// Adds a plugin as the network's flags wish.
nv::IPluginV3Layer* add_default(nv::INetworkDefinition& network, const nb::callable& func) {
  using Flag = nv::NetworkDefinitionCreationFlag;
  using Request = nv::QuickPluginCreationRequest;
  const bool aot = network.getFlag(Flag::kPREFER_AOT_PYTHON_PLUGINS);
  const bool jit = network.getFlag(Flag::kPREFER_JIT_PYTHON_PLUGINS);
  if (aot && jit)
    throw nb::value_error("the network has both flags PREFER_AOT_PYTHON_PLUGINS and PREFER_JIT_PYTHON_PLUGINS");
  return add_made(network, func, aot ? Request::kPREFER_AOT : jit ? Request::kPREFER_JIT : Request::kUNKNOWN);
}

nv::IPluginV3Layer* add_strict(nv::INetworkDefinition& network, const nb::callable& func, bool aot) {
  using Request = nv::QuickPluginCreationRequest;
  return add_made(network, func, aot ? Request::kSTRICT_AOT : Request::kSTRICT_JIT);
}

/// A call of the network, which the layer keeps alive. A second one of a name is an overload of the first.
template <class Call, class... Extra>
void add_call(nb::handle network, const char* name, Call call, const char* words, const Extra&... extra) {
  nb::cpp_function_def(call, nb::scope(network), nb::name(name), nb::is_method(), nb::rv_policy::reference_internal,
                       words, extra...);
}

}  // namespace

void bind_plugin_layers(nb::module_& m) {
  nb::class_<nv::IPluginV2Layer, nv::ILayer>(m, "IPluginV2Layer", "A plugin of version 2. Deprecated: IPluginV3Layer.")
      .def_prop_ro(
          "plugin",
          [](nb::handle self) {
            return show_v2(&nb::cast<nv::IPluginV2Layer&>(self).getPlugin(), Owner::kLibrary, nb::borrow(self));
          },
          nb::sig("def plugin(self) -> tensorrt._plugin_v2.IPluginV2"), "IPluginV2: the network's copy of the plugin.");
  nb::class_<nv::IPluginV3Layer, nv::ILayer>(m, "IPluginV3Layer", "A plugin of version 3, or a quick plugin.")
      .def_prop_ro(
          "plugin",
          [](nb::handle self) {
            return show_v3(&nb::cast<nv::IPluginV3Layer&>(self).getPlugin(), Owner::kLibrary, nb::borrow(self));
          },
          nb::sig("def plugin(self) -> tensorrt._plugin_v3.IPluginV3"), "IPluginV3: the network's copy of the plugin.");
  const nb::object network = m.attr("INetworkDefinition");
  add_call(network, "add_plugin_v2", &add_v2,
           "Adds a copy of an IPluginV2, and returns its layer; None, with an error, if that fails. Deprecated: use "
           "add_plugin_v3.",
           "inputs"_a, "plugin"_a,
           nb::sig("def add_plugin_v2(self, inputs: collections.abc.Sequence[ITensor], "
                   "plugin: tensorrt._plugin_v2.IPluginV2) -> IPluginV2Layer"));
  add_call(network, "add_plugin_v3", &add_v3,
           "Adds a copy of an IPluginV3, and returns its layer; None, with an error, if that fails.", "inputs"_a,
           "shape_inputs"_a, "plugin"_a,
           nb::sig("def add_plugin_v3(self, inputs: collections.abc.Sequence[ITensor], "
                   "shape_inputs: collections.abc.Sequence[ITensor], plugin: tensorrt._plugin_v3.IPluginV3) -> "
                   "IPluginV3Layer"));
  add_call(network, "add_plugin", &add_parts, "Adds a copy of a plugin, given a tuple of inputs, shape inputs and it.",
           "tuple"_a);
  add_call(network, "add_plugin", &add_default,
           "Adds a quick plugin, given what tensorrt.plugin.op.namespace.name(...) returns. The network's flags say "
           "which of two implementations is meant.",
           "func"_a);
  add_call(network, "add_plugin", &add_strict,
           "Adds a quick plugin, given what tensorrt.plugin.op.namespace.name(...) returns: with aot, its kernel, else "
           "what Python runs.",
           "func"_a, "aot"_a);
}

}  // namespace kiln::python
