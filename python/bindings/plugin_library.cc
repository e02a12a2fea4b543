// init_libnvinfer_plugins: registers the standard plugins.

#include <NvInfer.h>
#include <NvInferPlugin.h>

#include <string>

#include "bindings.h"
#include "callback.h"

namespace kiln::python {

void bind_plugin_library(nb::module_& m) {
  m.def(
      "init_libnvinfer_plugins",
      [](nvinfer1::ILogger* logger, const std::string& name) {
        if (logger != nullptr) nb::find(logger).release();  // the plugins keep it as long as the process lives
        return without_gil([&] { return initLibNvInferPlugins(logger, name.c_str()); });
      },
      "logger"_a.none(), "namespace"_a,
      "Registers the standard plugins in a namespace; messages go to the logger, if it is not None.");
}

}  // namespace kiln::python
