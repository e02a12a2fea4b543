// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings.h"

namespace kiln::python {

/// What the package kiln asks for: names with an underscore.
void bind_kiln(nb::module_& m);

}  // namespace kiln::python
