/// Plugins, creators and resources between Python and C++: adapters in C++ around what Python implements, and Python
/// objects with a handle around what C++ implements. All of it needs the GIL.
#pragma once

#include <NvInfer.h>
#include <nanobind/nanobind.h>

#include <memory>

namespace kiln::python {

namespace nb = nanobind;

/// A module beside this one, in the package that was imported: its name is another where NVIDIA's is `tensorrt`.
nb::object python_part(const char* module);
/// A class of the plain Python ones: "IPluginV3".
nb::object plugin_class(const char* name);
/// Whether the object is of that class. Throws what its __class__ raises.
bool is_plugin_class(nb::handle object, const char* name);

/// The side that deletes an object of C++ which Python sees.
enum class Owner { kPython, kLibrary };

/// A plugin for a call that leaves it to the program: the C++ plugin that a Python object stands for, or an adapter
/// that lives as long as this. The constructor throws TypeError for an object that is no plugin of that version.
class BorrowedV3 {
 public:
  explicit BorrowedV3(nb::handle plugin);
  nvinfer1::IPluginV3& operator*() const { return *plugin_; }

 private:
  std::unique_ptr<nvinfer1::IPluginV3> adapter_;
  nvinfer1::IPluginV3* plugin_;
};
class BorrowedV2 {
 public:
  explicit BorrowedV2(nb::handle plugin);
  nvinfer1::IPluginV2& operator*() const { return *plugin_; }

 private:
  std::unique_ptr<nvinfer1::IPluginV2> adapter_;
  nvinfer1::IPluginV2* plugin_;
};

/// A plugin that C++ deletes from now on. Throws TypeError for an object that is none.
nvinfer1::IPluginV3* give_v3(nb::object plugin);
nvinfer1::IPluginV2* give_v2(nb::object plugin);

/// Shows Python a plugin: its own object, if Python implements it; None for null. `keeps` (may be None) lives as long
/// as an object for a plugin that the library owns.
nb::object show_v3(nvinfer1::IPluginV3* plugin, Owner owner, nb::object keeps);
nb::object show_v2(nvinfer1::IPluginV2* plugin, Owner owner, nb::object keeps);

/// Shows Python a creator: its own object, or one that stands for a creator of C++; None for null.
nb::object show_creator(nvinfer1::IPluginCreatorInterface* creator);

/// Makes parts of a plugin: null where the object is of no class of such a part. `plugin` is the adapter that has it.
std::unique_ptr<nvinfer1::IPluginCapability> make_one_part(nvinfer1::PluginCapabilityType type, nb::object part,
                                                           nvinfer1::IPluginV3* plugin);
std::unique_ptr<nvinfer1::IPluginCapability> make_quick_part(nvinfer1::PluginCapabilityType type, nb::object part);

/// Shows Python a part of a plugin of C++, which `keeps` has.
nb::object show_part(nvinfer1::IPluginCapability* part, nb::object keeps);

/// A new object of a plain Python class that stands for the C++ object of a handle.
nb::object with_handle(const char* class_name, nb::object handle);

/// The object that Python implements behind an adapter of ours, or a null one.
nb::object python_plugin(const nvinfer1::IPluginV3* plugin);
nb::object python_plugin(const nvinfer1::IPluginV2* plugin);

/// Whether a plugin of Python's is told (`destroy`) when its adapter of version 3 is deleted.
enum class Ends { kSilently, kWithDestroy };
/// New adapters.
nvinfer1::IPluginV3* adapt_v3(nb::object plugin, Ends ends);
nvinfer1::IPluginV2* adapt_v2(nb::object plugin);
/// The answer of getTensorRTVersion of a plugin of version 2 in Python.
int32_t python_plugin_version();
/// Deletes an adapter without telling its plugin.
void forget(nvinfer1::IPluginV3* adapter);

}  // namespace kiln::python
