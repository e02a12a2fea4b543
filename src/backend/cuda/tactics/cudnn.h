/// Convolutions by NVIDIA's cuDNN.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& cudnn_tactic();

}  // namespace kiln::cuda
