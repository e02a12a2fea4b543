/// Convolutions with what follows them: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& convolution_tactic();
/// The tactic of a convolution over two tensors joined along their channels, which are read where they are.
const Tactic& joined_convolution_tactic();

}  // namespace kiln::cuda
