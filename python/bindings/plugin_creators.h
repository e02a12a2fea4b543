/// Registration of creators that Python implements.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

namespace kiln::python {

namespace nb = nanobind;

/// IPluginRegistry::registerCreator and deregisterCreator, for a Python object that is a creator, or stands for one of
/// C++. A registered object of Python is kept. They release the GIL, and throw TypeError for an object that is none.
bool register_creator(nvinfer1::IPluginRegistry& registry, nb::object creator, const char* plugin_namespace);
bool deregister_creator(nvinfer1::IPluginRegistry& registry, nb::handle creator);

/// Takes all creators of Python out of the process's registry. Called before the interpreter ends.
void deregister_all_creators();

}  // namespace kiln::python
