#pragma once

#include "bindings.h"

namespace kiln::python {

/// Binds the calls of the package kiln: names with an underscore.
void bind_kiln(nb::module_& m);
/// Calls with arrays of numpy; a part of bind_kiln.
void bind_kiln_numpy_call(nb::module_& m);

/// Whether the plugin's enqueue that this thread calls is recorded. A failure is no error then: the run calls it again.
bool enqueue_is_recorded();

}  // namespace kiln::python
