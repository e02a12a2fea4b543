// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The extension module `tensorrt.tensorrt`. A class is bound after its bases and after the enums of its defaults.

#include "bindings.h"

NB_MODULE(tensorrt, m) {
  using namespace kiln::python;
  m.doc() = "Kiln's bindings with the names of TensorRT 10.16's module; `import tensorrt` gives them all.";
  // Objects that a program's globals still hold when the interpreter ends are no defect of the program.
  nb::set_leak_warnings(false);

  bind_run_enums(m);
  bind_build_enums(m);
  bind_layers_enums(m);
  bind_plugins_enums(m);
  bind_dims(m);
  bind_weights(m);
  bind_host_memory(m);

  bind_versioned_interface(m);
  bind_logger(m);

  bind_plugin_fields(m);
  bind_plugin_shapes(m);
  bind_plugin_kernels(m);
  bind_plugin_native(m);
  bind_plugin_creators(m);
  bind_plugin_resources(m);
  bind_registry(m);
}
