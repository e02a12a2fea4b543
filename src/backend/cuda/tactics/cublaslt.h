/// Matrix products, and convolutions of one tap, by NVIDIA's cuBLASLt.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& cublaslt_product_tactic();
const Tactic& cublaslt_point_tactic();
/// Products of INT8 to INT8, and of FP8.
const Tactic& cublaslt_byte_tactic();

}  // namespace kiln::cuda
