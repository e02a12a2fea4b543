// The parts of the module `tensorrt`: each function binds an area of the API, in a file of its own.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "enum_casters.h"

namespace kiln::python {

namespace nb = nanobind;
using namespace nanobind::literals;

// Values
void bind_run_enums(nb::module_& m);
void bind_build_enums(nb::module_& m);
void bind_layers_enums(nb::module_& m);
void bind_plugins_enums(nb::module_& m);
void bind_dims(nb::module_& m);
void bind_permutation(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_host_memory(nb::module_& m);

// Classes that programs derive
void bind_versioned_interface(nb::module_& m);
void bind_logger(nb::module_& m);
void bind_error_recorder(nb::module_& m);
void bind_observers(nb::module_& m);
void bind_allocators(nb::module_& m);
void bind_streams(nb::module_& m);
void bind_calibrators(nb::module_& m);
void bind_algorithm(nb::module_& m);

// Plugins
void bind_plugin_fields(nb::module_& m);
void bind_plugin_shapes(nb::module_& m);
void bind_plugin_kernels(nb::module_& m);
void bind_plugin_native(nb::module_& m);
void bind_plugin_creators(nb::module_& m);
void bind_plugin_resources(nb::module_& m);
void bind_registry(nb::module_& m);
void bind_plugin_library(nb::module_& m);
void bind_plugin_memory(nb::module_& m);
void bind_plugin_layers(nb::module_& m);  ///< after bind_network, to which it adds calls

// Networks
void bind_tensor(nb::module_& m);
void bind_layers_base(nb::module_& m);
void bind_layers_pointwise(nb::module_& m);
void bind_layers_window(nb::module_& m);
void bind_layers_reduction(nb::module_& m);
void bind_layers_movement(nb::module_& m);
void bind_layers_transformer(nb::module_& m);
void bind_loops(nb::module_& m);
void bind_network(nb::module_& m);

// Building
void bind_profile(nb::module_& m);
void bind_timing_cache(nb::module_& m);
void bind_config(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_parser(nb::module_& m);

// Running
void bind_serialization(nb::module_& m);
void bind_context(nb::module_& m);
void bind_inspector(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_refitter(nb::module_& m);

}  // namespace kiln::python
