/// Launches of CUDA kernels that the CUDA runtime refused because there is no GPU.
#pragma once

#include <cstdint>

namespace kiln::api {

void tell_refused_launch();      ///< one more, of this thread
int64_t num_refused_launches();  ///< of this thread, so far

}  // namespace kiln::api
