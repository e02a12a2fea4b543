// Handles of plugins that C++ implements, as the plain Python classes call them.
#include <impl/NvInferPythonPlugin.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "gil.h"
#include "plugin_handles.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using namespace nb::literals;

using Build = nv::v_1_0::IPluginV3OneBuild;

/// A part of a plugin, which `keeps` has.
struct PartHandle {
  nv::IPluginCapability* part;
  nb::object keeps;

  std::string_view kind() const { return part->getInterfaceInfo().kind; }
};

/// A property of a core or quick core part.
template <auto kOne, auto kQuick>
const char* core_text(const PartHandle& self) {
  if (self.kind() == "PLUGIN_V3QUICK_CORE") return (static_cast<nv::IPluginV3QuickCore*>(self.part)->*kQuick)();
  return (static_cast<nv::IPluginV3OneCore*>(self.part)->*kOne)();
}

void bind_parts(nb::module_& m) {
  using One = nv::IPluginV3OneCore;
  using Quick = nv::IPluginV3QuickCore;
  const auto build = [](const PartHandle& self) -> Build& { return static_cast<Build&>(*self.part); };
  nb::class_<PartHandle>(m, "_PartHandle")
      .def_prop_ro("plugin_name", &core_text<&One::getPluginName, &Quick::getPluginName>)
      .def_prop_ro("plugin_version", &core_text<&One::getPluginVersion, &Quick::getPluginVersion>)
      .def_prop_ro("plugin_namespace", &core_text<&One::getPluginNamespace, &Quick::getPluginNamespace>)
      .def_prop_ro("num_outputs", [=](const PartHandle& self) { return build(self).getNbOutputs(); })
      .def_prop_ro("format_combination_limit",
                   [=](const PartHandle& self) { return build(self).getFormatCombinationLimit(); })
      .def_prop_ro("metadata_string", [=](const PartHandle& self) { return build(self).getMetadataString(); })
      .def_prop_ro("timing_cache_id", [=](const PartHandle& self) { return build(self).getTimingCacheID(); });
}

/// The Python class of a part of C++.
const char* class_of(const nv::IPluginCapability& part) {
  const nv::InterfaceInfo info = part.getInterfaceInfo();
  const std::string_view kind = info.kind ? info.kind : "";
  if (kind == "PLUGIN_V3ONE_BUILD") return info.major >= 2 ? "IPluginV3OneBuildV2" : "IPluginV3OneBuild";
  for (const auto& [name, known] :
       {std::pair("IPluginV3OneCore", "PLUGIN_V3ONE_CORE"), std::pair("IPluginV3OneRuntime", "PLUGIN_V3ONE_RUNTIME"),
        std::pair("IPluginV3QuickCore", "PLUGIN_V3QUICK_CORE"),
        std::pair("IPluginV3QuickBuild", "PLUGIN_V3QUICK_BUILD"),
        std::pair("IPluginV3QuickAOTBuild", "PLUGIN_V3QUICKAOT_BUILD"),
        std::pair("IPluginV3QuickRuntime", "PLUGIN_V3QUICK_RUNTIME")})
    if (kind == known) return name;
  return "IPluginCapability";
}

void bind_plugins(nb::module_& m) {
  nb::class_<PluginHandle>(m, "_PluginHandle")
      .def("get_capability_interface",
           [](nb::handle self, nv::PluginCapabilityType type) {
             return show_part(nb::cast<PluginHandle&>(self).get().getCapabilityInterface(type), nb::borrow(self));
           })
      .def("clone", [](PluginHandle& self) { return show_v3(self.get().clone(), Owner::kPython, nb::none()); });
}

nv::IPluginV2Ext& ext_of(OldPluginHandle& self) { return static_cast<nv::IPluginV2Ext&>(self.get()); }

template <class Pointer>
std::vector<Pointer> pointers(const std::vector<uintptr_t>& addresses) {
  std::vector<Pointer> result;
  for (const uintptr_t address : addresses) result.push_back(reinterpret_cast<Pointer>(address));
  return result;
}

nb::bytes serialize(OldPluginHandle& self) {
  std::string bytes(self.get().getSerializationSize(), '\0');
  self.get().serialize(bytes.data());
  return nb::bytes(bytes.data(), bytes.size());
}

std::unique_ptr<bool[]> flags(const std::vector<bool>& values) {
  auto result = std::make_unique<bool[]>(values.size());
  std::copy(values.begin(), values.end(), result.get());
  return result;
}

using Shapes = std::vector<nv::Dims>;
using Types = std::vector<nv::DataType>;

int32_t count_of(const auto& values) { return static_cast<int32_t>(values.size()); }

void configure_with_format(OldPluginHandle& self, const Shapes& in, const Shapes& out, nv::DataType type,
                           nv::TensorFormat format, int32_t batch) {
  self.get().configureWithFormat(in.data(), count_of(in), out.data(), count_of(out), type, format, batch);
}

void configure_plugin(OldPluginHandle& self, const Shapes& in, const Shapes& out, const Types& in_types,
                      const Types& out_types, const std::vector<bool>& in_broadcast,
                      const std::vector<bool>& out_broadcast, nv::TensorFormat format, int32_t batch) {
  if (in.size() != in_types.size() || in.size() != in_broadcast.size() || out.size() != out_types.size() ||
      out.size() != out_broadcast.size())
    throw nb::value_error("configure_plugin: each input and each output needs a shape, a type and a broadcast flag");
  ext_of(self).configurePlugin(in.data(), count_of(in), out.data(), count_of(out), in_types.data(), out_types.data(),
                               flags(in_broadcast).get(), flags(out_broadcast).get(), format, batch);
}

int32_t execute_async(OldPluginHandle& self, int32_t batch, const std::vector<uintptr_t>& inputs,
                      const std::vector<uintptr_t>& outputs, uintptr_t workspace, uintptr_t stream) {
  nv::IPluginV2& plugin = self.get();
  const auto in = pointers<const void*>(inputs);
  const auto out = pointers<void*>(outputs);
  const PythonUnlock unlocked;
  return plugin.enqueue(batch, in.data(), out.data(), reinterpret_cast<void*>(workspace),
                        reinterpret_cast<cudaStream_t>(stream));
}

void attach_to_context(OldPluginHandle& self, uintptr_t cudnn, uintptr_t cublas, nv::IGpuAllocator* allocator) {
  ext_of(self).attachToContext(reinterpret_cast<cudnnContext*>(cudnn), reinterpret_cast<cublasContext*>(cublas),
                               allocator);
}

void bind_old_plugins(nb::module_& m) {
  nb::class_<OldPluginHandle>(m, "_OldPluginHandle")
      .def_prop_ro("num_outputs", [](OldPluginHandle& self) { return self.get().getNbOutputs(); })
      .def_prop_ro("tensorrt_version", [](OldPluginHandle& self) { return self.get().getTensorRTVersion(); })
      .def_prop_ro("plugin_type", [](OldPluginHandle& self) { return self.get().getPluginType(); })
      .def_prop_ro("plugin_version", [](OldPluginHandle& self) { return self.get().getPluginVersion(); })
      .def_prop_rw(
          "plugin_namespace", [](OldPluginHandle& self) { return self.get().getPluginNamespace(); },
          [](OldPluginHandle& self, const char* name) { self.get().setPluginNamespace(name); })
      .def_prop_ro("serialization_size", [](OldPluginHandle& self) { return self.get().getSerializationSize(); })
      .def("get_output_shape",
           [](OldPluginHandle& self, int32_t index, const Shapes& inputs) {
             return self.get().getOutputDimensions(index, inputs.data(), count_of(inputs));
           })
      .def("supports_format", [](OldPluginHandle& self, nv::DataType type,
                                 nv::TensorFormat format) { return self.get().supportsFormat(type, format); })
      .def("configure_with_format", &configure_with_format)
      .def("initialize", [](OldPluginHandle& self) { return self.get().initialize(); })
      .def("terminate", [](OldPluginHandle& self) { self.get().terminate(); })
      .def("get_workspace_size",
           [](OldPluginHandle& self, int32_t batch) { return self.get().getWorkspaceSize(batch); })
      .def("execute_async", &execute_async)
      .def("serialize", &serialize)
      .def("destroy", &OldPluginHandle::destroy)
      .def("clone", [](OldPluginHandle& self) { return show_v2(self.get().clone(), Owner::kPython, nb::none()); })
      .def("get_output_data_type",
           [](OldPluginHandle& self, int32_t index, const Types& inputs) {
             return ext_of(self).getOutputDataType(index, inputs.data(), count_of(inputs));
           })
      .def("configure_plugin", &configure_plugin)
      .def("attach_to_context", &attach_to_context, "cudnn"_a, "cublas"_a, "allocator"_a.none())
      .def("detach_from_context", [](OldPluginHandle& self) { ext_of(self).detachFromContext(); });
}

}  // namespace

namespace {

/// An InterfaceInfo has a pointer to its kind, which stays: kinds are those of the API.
nv::InterfaceInfo interface_info(const std::string& kind, int32_t major, int32_t minor) {
  static std::set<std::string>& kinds = *new std::set<std::string>;
  return {kinds.insert(kind).first->c_str(), major, minor};
}

}  // namespace

nb::object show_part(nv::IPluginCapability* part, nb::object keeps) {
  if (!part) return nb::none();
  return with_handle(class_of(*part), nb::cast(PartHandle{part, std::move(keeps)}));
}

void bind_plugin_native(nb::module_& m) {
  m.def("_interface_info", &interface_info, "kind"_a, "major"_a, "minor"_a, "Makes an InterfaceInfo.");
  m.attr("_python_plugin_version") = python_plugin_version();
  bind_parts(m);
  bind_plugins(m);
  bind_old_plugins(m);
}

}  // namespace kiln::python
