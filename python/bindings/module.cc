// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The extension module `tensorrt.tensorrt`. A class is bound after its bases and after the enums of its defaults.

#include "bindings.h"
#include "kiln.h"

NB_MODULE(tensorrt, m) {
  using namespace kiln::python;
  // Callbacks find their interpreter by the thread alone (PyGILState_Ensure), which knows the main one only.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("tensorrt: Kiln's module works in the main interpreter only, not in a subinterpreter");
  m.doc() = "Kiln's bindings with the names of TensorRT 10.16's module; `import tensorrt` gives them all.";
  // Objects that a program's globals still hold when the interpreter ends are no defect of the program.
  nb::set_leak_warnings(false);
  // A conversion that does not work is a TypeError; a line on the standard error would be one more.
  nb::set_implicit_cast_warnings(false);

  bind_kiln(m);
  bind_run_enums(m);
  bind_build_enums(m);
  bind_layers_enums(m);
  bind_plugins_enums(m);
  bind_dims(m);
  bind_permutation(m);
  bind_weights(m);
  bind_host_memory(m);

  bind_versioned_interface(m);
  bind_logger(m);
  bind_error_recorder(m);
  bind_observers(m);
  bind_allocators(m);
  bind_streams(m);
  bind_calibrators(m);
  bind_algorithm(m);

  bind_tensor(m);
  bind_layers_base(m);
  bind_layers_pointwise(m);
  bind_layers_window(m);
  bind_layers_reduction(m);
  bind_layers_movement(m);
  bind_layers_transformer(m);
  bind_loops(m);
  bind_network(m);

  bind_profile(m);
  bind_timing_cache(m);
  bind_config(m);
  bind_builder(m);
  bind_parser(m);

  bind_serialization(m);
  bind_context(m);
  bind_inspector(m);
  bind_engine(m);
  bind_runtime(m);
  bind_refitter(m);
  bind_plugin_library(m);

  bind_plugin_fields(m);
  bind_plugin_shapes(m);
  bind_plugin_kernels(m);
  bind_plugin_native(m);
  bind_plugin_creators(m);
  bind_plugin_resources(m);
  bind_registry(m);
  bind_plugin_memory(m);
  bind_plugin_layers(m);
}
