#include "plugin_creators.h"

#include <impl/NvInferPythonPlugin.h>
#include <nanobind/stl/string.h>

#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "plugin_handles.h"
#include "plugin_parts.h"

namespace kiln::python {
namespace {

namespace nv = nvinfer1;
using Creator = nv::IPluginCreatorInterface;

/// A creator of C++, which a registry has.
struct CreatorHandle {
  Creator* creator;

  std::string_view kind() const {
    const nv::InterfaceInfo info = creator->getInterfaceInfo();
    return info.kind ? info.kind : "";
  }
};

/// The methods that the three kinds of creators share. `Base` is one of them.
template <class Base>
class CreatorAdapter : public Base {
 public:
  explicit CreatorAdapter(nb::object creator) : side_(std::move(creator)) {}

  nv::APILanguage getAPILanguage() const noexcept final { return nv::APILanguage::kPYTHON; }
  const char* getPluginName() const noexcept final { return text_of(side_, "name", name_); }
  const char* getPluginVersion() const noexcept final { return text_of(side_, "plugin_version", version_); }
  const char* getPluginNamespace() const noexcept final { return text_of(side_, "plugin_namespace", namespace_); }
  const nv::PluginFieldCollection* getFieldNames() noexcept final { return fields_.names(side_); }

 protected:
  const PythonSide side_;

 private:
  mutable KeptText name_, version_, namespace_;
  KeptFields fields_;
};

nv::IPluginV3* given_v3(nb::object plugin) { return plugin.is_none() ? nullptr : give_v3(std::move(plugin)); }
nv::IPluginV2* given_v2(nb::object plugin) { return plugin.is_none() ? nullptr : give_v2(std::move(plugin)); }

const char* known(const char* text) { return text ? text : ""; }

class OldCreatorAdapter final : public CreatorAdapter<nv::IPluginCreator> {
 public:
  using CreatorAdapter::CreatorAdapter;

  nv::IPluginV2* createPlugin(const char* name, const nv::PluginFieldCollection* fields) noexcept override {
    return answer(side_, "create_plugin", static_cast<nv::IPluginV2*>(nullptr),
                  [&] { return given_v2(side_.attr("create_plugin")(known(name), to_python(fields))); });
  }
  nv::IPluginV2* deserializePlugin(const char* name, const void* data, size_t size) noexcept override {
    return answer(side_, "deserialize_plugin", static_cast<nv::IPluginV2*>(nullptr),
                  [&] { return given_v2(side_.attr("deserialize_plugin")(known(name), nb::bytes(data, size))); });
  }
  void setPluginNamespace(const char* plugin_namespace) noexcept override {
    succeeds(side_, "plugin_namespace",
             [&] { side_.object().attr("plugin_namespace") = nb::str(known(plugin_namespace)); });
  }
};

class V3CreatorAdapter final : public CreatorAdapter<nv::IPluginCreatorV3One> {
 public:
  using CreatorAdapter::CreatorAdapter;

  nv::IPluginV3* createPlugin(const char* name, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase) noexcept override {
    return answer(side_, "create_plugin", static_cast<nv::IPluginV3*>(nullptr),
                  [&] { return given_v3(side_.attr("create_plugin")(known(name), to_python(fields), phase)); });
  }
};

class QuickCreatorAdapter final : public CreatorAdapter<nv::IPluginCreatorV3Quick> {
 public:
  using CreatorAdapter::CreatorAdapter;

  nv::IPluginV3* createPlugin(const char* name, const char* plugin_namespace, const nv::PluginFieldCollection* fields,
                              nv::TensorRTPhase phase, nv::QuickPluginCreationRequest request) noexcept override {
    return answer(side_, "create_plugin", static_cast<nv::IPluginV3*>(nullptr), [&] {
      return given_v3(
          side_.attr("create_plugin")(known(name), known(plugin_namespace), to_python(fields), phase, request));
    });
  }
};

std::unique_ptr<Creator> adapt(nb::object creator) {
  if (is_plugin_class(creator, "IPluginCreatorV3One")) return std::make_unique<V3CreatorAdapter>(std::move(creator));
  if (is_plugin_class(creator, "IPluginCreatorV3Quick"))
    return std::make_unique<QuickCreatorAdapter>(std::move(creator));
  if (is_plugin_class(creator, "IPluginCreator")) return std::make_unique<OldCreatorAdapter>(std::move(creator));
  throw nb::type_error("creator is no IPluginCreatorV3One, IPluginCreatorV3Quick or IPluginCreator");
}

/// A creator of Python's in the registries that have it.
struct Registered {
  nb::object object;
  std::unique_ptr<Creator> adapter;
  int registries = 0;
};

/// By the Python object, which an entry keeps, so that its address is no other's; needs the GIL.
std::map<const PyObject*, Registered>& registered() {
  static std::map<const PyObject*, Registered>& all = *new std::map<const PyObject*, Registered>;
  return all;
}

/// Forgets a creator that no registry has.
void drop_if_unused(const PyObject* creator) {
  const auto found = registered().find(creator);
  if (found == registered().end() || found->second.registries > 0) return;
  const Registered dropped = std::move(found->second);
  registered().erase(found);
}

/// A call that may change how many registries have a creator. Keeps it meanwhile, since another thread may run and take
/// it out elsewhere. The count is right at the end of the call, also where an interrupt leaves it.
class Registration {
 public:
  explicit Registration(const nb::object& creator) : key_(creator.ptr()), entry_(entry_of(creator)) {
    ++entry_.registries;
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    entry_.registries += change_ - 1;
    drop_if_unused(key_);
  }

  bool add_to(nv::IPluginRegistry& registry, const char* plugin_namespace) {
    without_gil(registry, [&] { change_ = registry.registerCreator(*entry_.adapter, plugin_namespace) ? 1 : 0; });
    return change_ != 0;
  }
  bool remove_from(nv::IPluginRegistry& registry) {
    without_gil(registry, [&] { change_ = registry.deregisterCreator(*entry_.adapter) ? -1 : 0; });
    return change_ != 0;
  }

 private:
  static Registered& entry_of(const nb::object& creator) {
    if (!registered().contains(creator.ptr())) registered().emplace(creator.ptr(), Registered{creator, adapt(creator)});
    return registered().at(creator.ptr());
  }

  const PyObject* const key_;
  Registered& entry_;
  int change_ = 0;  ///< of the number of registries
};

/// Throws TypeError for an object that is no creator.
void require_creator(nb::handle object) {
  if (!is_plugin_class(object, "IPluginCreatorInterface"))
    throw nb::type_error("creator is no IPluginCreatorV3One, IPluginCreatorV3Quick or IPluginCreator");
}

}  // namespace

bool register_creator(nv::IPluginRegistry& registry, nb::object creator, const char* plugin_namespace) {
  require_creator(creator);
  if (const auto* handle = handle_of<CreatorHandle>(creator))
    return without_gil(registry, [&] { return registry.registerCreator(*handle->creator, plugin_namespace); });
  return Registration(creator).add_to(registry, plugin_namespace);
}

bool deregister_creator(nv::IPluginRegistry& registry, nb::handle creator) {
  require_creator(creator);
  if (const auto* handle = handle_of<CreatorHandle>(creator))
    return without_gil(registry, [&] { return registry.deregisterCreator(*handle->creator); });
  if (!registered().contains(creator.ptr())) return false;
  return Registration(nb::borrow(creator)).remove_from(registry);
}

void deregister_all_creators() {
  std::vector<nb::object> creators;
  for (const auto& [key, entry] : registered()) creators.push_back(entry.object);
  for (const nb::object& creator : creators) try {
      deregister_creator(*getPluginRegistry(), creator);
    } catch (nb::python_error& interrupt) {  // of one creator; the others have to go, too
      interrupt.discard_as_unraisable(creator);
    }
}

nb::object show_creator(Creator* creator) {
  if (!creator) return nb::none();
  for (const auto& [key, entry] : registered())
    if (entry.adapter.get() == creator) return entry.object;
  const CreatorHandle handle{creator};
  const std::string_view kind = handle.kind();
  const char* name = "IPluginCreatorInterface";
  if (kind == "PLUGIN CREATOR_V1") name = "IPluginCreator";
  if (kind == "PLUGIN CREATOR_V3ONE") name = "IPluginCreatorV3One";
  if (kind == "PLUGIN CREATOR_V3QUICK") name = "IPluginCreatorV3Quick";
  return with_handle(name, nb::cast(handle));
}

namespace {

/// Calls `ask` with the creator as an object of its own class; returns what that returns.
template <class Ask>
auto of_kind(const CreatorHandle& self, Ask ask) {
  if (self.kind() == "PLUGIN CREATOR_V3ONE") return ask(static_cast<nv::IPluginCreatorV3One&>(*self.creator));
  if (self.kind() == "PLUGIN CREATOR_V3QUICK") return ask(static_cast<nv::IPluginCreatorV3Quick&>(*self.creator));
  return ask(static_cast<nv::IPluginCreator&>(*self.creator));
}

nb::object create_v2(const CreatorHandle& self, const char* name, nb::handle collection) {
  const FieldList fields(collection);
  auto& creator = static_cast<nv::IPluginCreator&>(*self.creator);
  return show_v2(without_gil([&] { return creator.createPlugin(name, fields.get()); }), Owner::kPython, nb::none());
}

nb::object create_v3(const CreatorHandle& self, const char* name, nb::handle collection, nv::TensorRTPhase phase) {
  const FieldList fields(collection);
  auto& creator = static_cast<nv::IPluginCreatorV3One&>(*self.creator);
  return show_v3(without_gil([&] { return creator.createPlugin(name, fields.get(), phase); }), Owner::kPython,
                 nb::none());
}

nb::object create_quick(const CreatorHandle& self, const char* name, const char* plugin_namespace,
                        nb::handle collection, nv::TensorRTPhase phase, nv::QuickPluginCreationRequest request) {
  const FieldList fields(collection);
  auto& creator = static_cast<nv::IPluginCreatorV3Quick&>(*self.creator);
  return show_v3(
      without_gil([&] { return creator.createPlugin(name, plugin_namespace, fields.get(), phase, request); }),
      Owner::kPython, nb::none());
}

nb::object deserialize(const CreatorHandle& self, const char* name, nb::handle serialized) {
  const Buffer bytes(serialized);
  auto& creator = static_cast<nv::IPluginCreator&>(*self.creator);
  return show_v2(without_gil([&] { return creator.deserializePlugin(name, bytes.data(), bytes.size_bytes()); }),
                 Owner::kPython, nb::none());
}

void set_namespace(const CreatorHandle& self, const char* plugin_namespace) {
  if (self.kind() != "PLUGIN CREATOR_V1")
    throw nb::attribute_error("plugin_namespace of a creator in C++ is read-only");
  static_cast<nv::IPluginCreator&>(*self.creator).setPluginNamespace(plugin_namespace);
}

}  // namespace

void bind_plugin_creators(nb::module_& m) {
  nb::class_<CreatorHandle>(m, "_CreatorHandle")
      .def_prop_ro("name",
                   [](const CreatorHandle& self) { return of_kind(self, [](auto& c) { return c.getPluginName(); }); })
      .def_prop_ro(
          "plugin_version",
          [](const CreatorHandle& self) { return of_kind(self, [](auto& c) { return c.getPluginVersion(); }); })
      .def_prop_rw(
          "plugin_namespace",
          [](const CreatorHandle& self) { return of_kind(self, [](auto& c) { return c.getPluginNamespace(); }); },
          &set_namespace)
      .def_prop_ro(
          "field_names",
          [](const CreatorHandle& self) { return to_python(of_kind(self, [](auto& c) { return c.getFieldNames(); })); })
      .def("create_plugin", &create_v2)
      .def("create_plugin", &create_v3)
      .def("create_plugin", &create_quick)
      .def("deserialize_plugin", &deserialize);
}

}  // namespace kiln::python
