/// Kernels of kNormalizeApart.
#pragma once

namespace kiln::cuda {

inline constexpr int kApartHeld[] = {8, 16};  ///< vectors of a thread, all in registers

}  // namespace kiln::cuda
