// libnvinfer_plugin's one function. The library sees the public API alone.
#include <NvInferPlugin.h>

/// Kiln has no standard plugins yet, so that there is nothing to register, and nothing that could fail.
bool initLibNvInferPlugins(void*, char const*) { return true; }
