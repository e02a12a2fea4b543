/// The text of the instruction of sm_90a.
#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.h"

namespace kiln::cuda {

/// The place of wgmma's left operand, and the order of the right one.
enum class WgmmaForm : uint8_t {
  kShared,       ///< wgmma(): both in shared memory, along k
  kSharedRight,  ///< the same; of unsigned bytes and signed ones, the former are the right operand
  kRegisters     ///< wgmma_values(): the left in registers, the right in shared memory along its columns; no TF32
};
/// Text of wgmma() for that many columns: an instruction names all its registers.
std::string wgmma_source(int64_t columns, DType element, WgmmaForm form = WgmmaForm::kShared);

}  // namespace kiln::cuda
