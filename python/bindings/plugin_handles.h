/// The handles that Python objects of plugins and creators of C++ have as `_native`.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

#include "plugins.h"

namespace kiln::python {

/// A plugin that C++ implements. One of Python's is deleted with the handle, unless it was given away.
class PluginHandle {
 public:
  PluginHandle(nvinfer1::IPluginV3* plugin, Owner owner, nb::object keeps);
  PluginHandle(PluginHandle&& other) noexcept;
  PluginHandle& operator=(PluginHandle&&) = delete;
  ~PluginHandle();

  /// Throws RuntimeError once it was given away.
  nvinfer1::IPluginV3& get() const;
  /// Gives it to C++. Throws RuntimeError where the library owns it.
  nvinfer1::IPluginV3* give();

 private:
  nvinfer1::IPluginV3* plugin_;
  Owner owner_;
  nb::object keeps_;
};

/// A plugin of version 2 that C++ made, as PluginHandle is one of version 3.
class OldPluginHandle {
 public:
  OldPluginHandle(nvinfer1::IPluginV2* plugin, Owner owner, nb::object keeps);
  OldPluginHandle(OldPluginHandle&& other) noexcept;
  OldPluginHandle& operator=(OldPluginHandle&&) = delete;
  ~OldPluginHandle() { destroy(); }

  nvinfer1::IPluginV2& get() const;
  nvinfer1::IPluginV2* give();
  void destroy();

 private:
  nvinfer1::IPluginV2* plugin_;
  Owner owner_;
  nb::object keeps_;
};

/// The handle of a Python object that stands for one of C++; null where Python implements it.
template <class Handle>
Handle* handle_of(nb::handle object) {
  Handle* handle = nullptr;
  return nb::try_cast(nb::object(object.attr("_native")), handle) ? handle : nullptr;
}

}  // namespace kiln::python
