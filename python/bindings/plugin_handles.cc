#include "plugin_handles.h"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace kiln::python {

namespace nv = nvinfer1;

namespace {

constexpr const char* kGone = "the plugin is no longer the program's: it was given to the library, or destroyed";

}  // namespace

PluginHandle::PluginHandle(nv::IPluginV3* plugin, Owner owner, nb::object keeps)
    : plugin_(plugin), owner_(owner), keeps_(std::move(keeps)) {}

PluginHandle::PluginHandle(PluginHandle&& other) noexcept
    : plugin_(std::exchange(other.plugin_, nullptr)), owner_(other.owner_), keeps_(std::move(other.keeps_)) {}

PluginHandle::~PluginHandle() {
  if (owner_ == Owner::kPython) delete plugin_;
}

nv::IPluginV3& PluginHandle::get() const {
  if (!plugin_) throw std::runtime_error(kGone);
  return *plugin_;
}

nv::IPluginV3* PluginHandle::give() {
  if (owner_ == Owner::kLibrary) throw std::runtime_error("the plugin is the library's; a clone of it can be given");
  get();
  return std::exchange(plugin_, nullptr);
}

OldPluginHandle::OldPluginHandle(nv::IPluginV2* plugin, Owner owner, nb::object keeps)
    : plugin_(plugin), owner_(owner), keeps_(std::move(keeps)) {}

OldPluginHandle::OldPluginHandle(OldPluginHandle&& other) noexcept
    : plugin_(std::exchange(other.plugin_, nullptr)), owner_(other.owner_), keeps_(std::move(other.keeps_)) {}

nv::IPluginV2& OldPluginHandle::get() const {
  if (!plugin_) throw std::runtime_error(kGone);
  return *plugin_;
}

nv::IPluginV2* OldPluginHandle::give() {
  if (owner_ == Owner::kLibrary) throw std::runtime_error("the plugin is the library's; a clone of it can be given");
  get();
  return std::exchange(plugin_, nullptr);
}

void OldPluginHandle::destroy() {
  if (plugin_ && owner_ == Owner::kPython) plugin_->destroy();
  plugin_ = nullptr;
}

nb::object python_part(const char* module) {
  const auto own = nb::cast<std::string>(nb::type<nvinfer1::ILogger>().attr("__module__"));  // "tensorrt.tensorrt"
  return nb::module_::import_((own.substr(0, own.rfind('.') + 1) + module).c_str());
}

nb::object plugin_class(const char* name) { return python_part("_plugins").attr(name); }

bool is_plugin_class(nb::handle object, const char* name) {
  const int is_instance = PyObject_IsInstance(object.ptr(), plugin_class(name).ptr());
  if (is_instance < 0) throw nb::python_error();
  return is_instance == 1;
}

nb::object with_handle(const char* class_name, nb::object handle) {
  const nb::object made_of = plugin_class(class_name);
  nb::object object = made_of.attr("__new__")(made_of);
  object.attr("_native") = std::move(handle);
  return object;
}

namespace {

void check_class(nb::handle plugin, const char* name) {
  if (is_plugin_class(plugin, name)) return;
  const auto found = nb::cast<std::string>(plugin.type().attr("__name__"));
  throw nb::type_error(("plugin is an object of class '" + found + "', and no " + name).c_str());
}

}  // namespace

BorrowedV3::BorrowedV3(nb::handle plugin) {
  check_class(plugin, "IPluginV3");
  if (const PluginHandle* handle = handle_of<PluginHandle>(plugin)) {
    plugin_ = &handle->get();
    return;
  }
  adapter_.reset(adapt_v3(nb::borrow(plugin), Ends::kSilently));
  plugin_ = adapter_.get();
}

nv::IPluginV3* give_v3(nb::object plugin) {
  check_class(plugin, "IPluginV3");
  if (PluginHandle* handle = handle_of<PluginHandle>(plugin)) return handle->give();
  return adapt_v3(std::move(plugin), Ends::kWithDestroy);
}

BorrowedV2::BorrowedV2(nb::handle plugin) {
  check_class(plugin, "IPluginV2");
  if (const OldPluginHandle* handle = handle_of<OldPluginHandle>(plugin)) {
    plugin_ = &handle->get();
    return;
  }
  adapter_.reset(adapt_v2(nb::borrow(plugin)));
  plugin_ = adapter_.get();
}

nv::IPluginV2* give_v2(nb::object plugin) {
  check_class(plugin, "IPluginV2");
  if (OldPluginHandle* handle = handle_of<OldPluginHandle>(plugin)) return handle->give();
  return adapt_v2(std::move(plugin));
}

nb::object show_v3(nv::IPluginV3* plugin, Owner owner, nb::object keeps) {
  if (!plugin) return nb::none();
  if (nb::object object = python_plugin(plugin)) {
    if (owner == Owner::kPython) forget(plugin);
    return object;
  }
  return with_handle("IPluginV3", nb::cast(PluginHandle(plugin, owner, std::move(keeps))));
}

namespace {

const char* class_of(const nv::IPluginV2& plugin) {
  switch (static_cast<nv::PluginVersion>(static_cast<uint32_t>(plugin.getTensorRTVersion()) >> 24U)) {
    case nv::PluginVersion::kV2_DYNAMICEXT:
    case nv::PluginVersion::kV2_DYNAMICEXT_PYTHON: return "IPluginV2DynamicExtBase";
    case nv::PluginVersion::kV2_EXT:
    case nv::PluginVersion::kV2_IOEXT: return "IPluginV2Ext";
    default: return "IPluginV2";
  }
}

}  // namespace

nb::object show_v2(nv::IPluginV2* plugin, Owner owner, nb::object keeps) {
  if (!plugin) return nb::none();
  if (nb::object object = python_plugin(plugin)) {
    if (owner == Owner::kPython) delete plugin;
    return object;
  }
  return with_handle(class_of(*plugin), nb::cast(OldPluginHandle(plugin, owner, std::move(keeps))));
}

}  // namespace kiln::python
