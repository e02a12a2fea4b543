#include <NvInfer.h>
#include <nanobind/stl/string.h>

#include <string_view>
#include <type_traits>

#include "bindings.h"
#include "callback.h"
#include "lifetime.h"
#include "plugin_calls.h"
#include "plugin_creators.h"
#include "plugin_resources.h"
#include "plugins.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using namespace nb::literals;
using Registry = nv::IPluginRegistry;

template <class Creator>
nb::list list_creators(Creator* const* creators, int32_t count) {
  nb::list list;
  for (int32_t i = 0; creators && i < count; ++i) list.append(show_creator(creators[i]));
  return list;
}

nb::list old_creators(const Registry& self) {
  int32_t count = 0;
  const auto* const creators = self.getPluginCreatorList(&count);
  return list_creators(creators, count);
}

nb::list all_creators(const Registry& self) {
  int32_t count = 0;
  const auto* const creators = self.getAllCreators(&count);
  return list_creators(creators, count);
}

nb::list all_creators_recursive(Registry& self) {
  int32_t count = 0;
  const auto* const creators = self.getAllCreatorsRecursive(&count);
  return list_creators(creators, count);
}

/// Calls the registry and returns its answer, which belongs to the registry. Raises the interrupt of a callback.
template <class Find>
auto ask(Registry& registry, Find find) {
  std::invoke_result_t<Find> found{};
  without_gil(registry, [&] { found = find(); });
  return found;
}

nb::object get_plugin_creator(Registry& self, const char* type, const char* version, const char* plugin_namespace) {
  return show_creator(ask(self, [&] { return self.getPluginCreator(type, version, plugin_namespace); }));
}

nb::object get_creator(Registry& self, const char* type, const char* version, const char* plugin_namespace) {
  return show_creator(ask(self, [&] { return self.getCreator(type, version, plugin_namespace); }));
}

constexpr const char* kLibrary = "tensorrt.PluginLibraryHandle";

nb::object load_library(Registry& self, const char* path) {
  void* const handle = ask(self, [&] { return self.loadLibrary(path); });
  return handle ? nb::object(nb::capsule(handle, kLibrary)) : nb::none();
}

void deregister_library(Registry& self, const nb::capsule& handle) {
  if (std::string_view(handle.name() ? handle.name() : "") != kLibrary)
    throw nb::type_error("handle is not what load_library returned");
  without_gil(self, [&] { self.deregisterLibrary(handle.data()); });
}

void bind_registration(nb::class_<Registry>& registry) {
  registry
      .def("register_creator", &register_creator, "creator"_a, "plugin_namespace"_a = "",
           nb::sig("def register_creator(self, creator: tensorrt._plugin_creators.IPluginCreator | "
                   "tensorrt._plugin_creators.IPluginCreatorInterface, plugin_namespace: str = '') -> bool"),
           "Adds a creator, and keeps it; returns False where one of its name, version and namespace is there.")
      .def("deregister_creator", &deregister_creator, "creator"_a,
           nb::sig("def deregister_creator(self, creator: tensorrt._plugin_creators.IPluginCreator | "
                   "tensorrt._plugin_creators.IPluginCreatorInterface) -> bool"),
           "Takes a creator out; returns False where it is not there.")
      .def("get_plugin_creator", &get_plugin_creator, "type"_a, "version"_a, "plugin_namespace"_a = "",
           nb::sig("def get_plugin_creator(self, type: str, version: str, plugin_namespace: str = '') -> "
                   "tensorrt._plugin_creators.IPluginCreator | None"),
           "Returns the IPluginCreator of a plugin of version 2, or None. Deprecated: use get_creator.")
      .def("get_creator", &get_creator, "type"_a, "version"_a, "plugin_namespace"_a = "",
           "Returns the creator of a plugin, of whatever interface it is, or None.")
      .def("load_library", &load_library, "plugin_path"_a,
           "Loads a shared library and adds its creators. Returns a handle for deregister_library, or None, with an "
           "error, if that fails.")
      .def("deregister_library", &deregister_library, "handle"_a,
           "Takes the creators of a library out, and unloads it.");
}

}  // namespace

void bind_registry(nb::module_& m) {
  nb::class_<Registry> registry(m, "IPluginRegistry",
                                "Creators of plugins, by name, version and namespace, and what plugins share.");
  registry
      .def_prop_ro("plugin_creator_list", &old_creators,
                   nb::sig("def plugin_creator_list(self) -> list[tensorrt._plugin_creators.IPluginCreator]"),
                   "list: creators of plugins of version 2. Deprecated: use all_creators.")
      .def_prop_ro("all_creators", &all_creators, "list: all creators of this registry.")
      .def_prop_ro("all_creators_recursive", &all_creators_recursive,
                   "list: all creators of this registry and its parents.")
      .def_prop_rw(
          "error_recorder", [](const Registry& self) { return self.getErrorRecorder(); },
          [](Registry& self, nv::IErrorRecorder* recorder) {
            self.setErrorRecorder(recorder);
            hold_item(&self, "error_recorder", recorder);
          },
          nb::for_getter(nb::rv_policy::reference), nb::for_setter(nb::arg("recorder").none()),
          "IErrorRecorder: where errors of this registry are recorded, and those that plugins in Python raise; or "
          "None.")
      .def_prop_rw("parent_search_enabled", &Registry::isParentSearchEnabled, &Registry::setParentSearchEnabled,
                   "bool: whether creators are looked for in the parent, too.")
      .def("acquire_plugin_resource", &acquire_resource, "key"_a, "resource"_a,
           nb::sig("def acquire_plugin_resource(self, key: str, resource: tensorrt._plugin_creators.IPluginResource) "
                   "-> tensorrt._plugin_creators.IPluginResource | None"),
           "Returns what is shared under a key, at first a clone of the given IPluginResource. Each call needs a "
           "release_plugin_resource. None if cloning fails.")
      .def("release_plugin_resource", &release_resource, "key"_a,
           "Tells that one user of a shared resource less is there; the last one's call releases it. Returns 0, or -1 "
           "if there is no such resource.");
  bind_registration(registry);
  m.def(
      "get_plugin_registry", [] { return getPluginRegistry(); }, nb::rv_policy::reference,
      "Returns the registry that the whole process shares.");
  m.def("get_builder_plugin_registry", &nv::getBuilderPluginRegistry, "engine_capability"_a, nb::rv_policy::reference,
        "Returns the registry of plugins for engines of an EngineCapability, or None where there is none.");
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    deregister_all_creators();
    PythonLock::interpreter_ends();
  }));
}

}  // namespace kiln::python
