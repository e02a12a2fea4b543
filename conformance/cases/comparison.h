/// Compares a backend's result for a case with that of the op's reference.
#pragma once

#include "ops/testing/case.h"
#include "tactics/tactic.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// Expects `got` to be `want` as far as the case's types and the numerics promise. `how` says what ran.
void compare(const Case& c, const HostTensor& got, const HostTensor& want, const Numerics& numerics,
             std::string_view how = {});

/// Whether this process leaves out the case at `index` of all: KILN_CASES_PART=2/12 leaves every twelfth case, from the
/// third on, for slow tools in several processes.
bool is_left_out(size_t index);

}  // namespace kiln
