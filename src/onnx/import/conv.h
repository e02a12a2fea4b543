/// Transposed convolutions whose pads are no attribute.
#pragma once

#include "onnx/import/window.h"

namespace kiln::onnx::importers {

/// Ends with the transposed convolution of inputs 0 and 1, and of input `bias` if there is one, as the node's output.
Status conv_transpose_by(ImportContext& cx, WindowAttributes w, size_t bias);

}  // namespace kiln::onnx::importers
