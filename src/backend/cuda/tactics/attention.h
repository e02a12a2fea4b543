/// Fused attention: shared by the ops a region may end at.
#pragma once

#include "tactics/tactic.h"

namespace kiln::cuda {

const Tactic& attention_tactic();
/// Attention of few queries whose keys and values are joined of two tensors (a cache, and what is new): it reads both.
const Tactic& joined_attention_tactic();
/// Attention whose operands are dequantized: it reads the bytes.
const Tactic& byte_attention_tactic();

}  // namespace kiln::cuda
