// Copyright the Kiln authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bindings.h"

namespace kiln::python {

/// What the package kiln asks for: names with an underscore.
void bind_kiln(nb::module_& m);

/// Whether this thread calls a plugin's enqueue for a recording, where a failure is no error: the run calls it again.
bool is_recorded_try();

}  // namespace kiln::python
