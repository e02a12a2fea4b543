// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the binding of layers, each in its own file.

#pragma once

#include "bindings.h"

namespace kiln::python {

void bind_layers_window(nb::module_& m);       ///< layers_window.cc
void bind_layers_pointwise(nb::module_& m);    ///< layers_pointwise.cc
void bind_layers_movement(nb::module_& m);     ///< layers_movement.cc
void bind_layers_reduction(nb::module_& m);    ///< layers_reduction.cc
void bind_layers_transformer(nb::module_& m);  ///< layers_transformer.cc

}  // namespace kiln::python
