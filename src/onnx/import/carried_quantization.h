/// QuantizeLinear and DequantizeLinear of element types that Kiln's ops lack.
#pragma once

#include "onnx/import/context.h"

namespace kiln::onnx {

/// Imports a QuantizeLinear to a carried type, or a DequantizeLinear of carried FP8. False for every other node, also
/// for a DequantizeLinear of carried integers, which are such of Kiln's.
Result<bool> import_carried_quantization(ImportContext& cx);

}  // namespace kiln::onnx
