/// Resources that plugins share, and those that a context gives them.
#pragma once

#include <NvInferRuntime.h>
#include <nanobind/nanobind.h>

namespace kiln::python {

namespace nb = nanobind;

/// An IPluginResourceContext with the context's allocator and recorder of this time; None for null.
nb::object show_resource_context(nvinfer1::IPluginResourceContext* context);

/// IPluginRegistry::acquirePluginResource and releasePluginResource. They release the GIL.
nb::object acquire_resource(nvinfer1::IPluginRegistry& registry, const char* key, nb::object resource);
int32_t release_resource(nvinfer1::IPluginRegistry& registry, const char* key);

}  // namespace kiln::python
