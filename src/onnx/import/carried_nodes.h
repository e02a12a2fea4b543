/// Nodes whose inputs are of element types that Kiln's ops lack.
#pragma once

#include "onnx/import/importers.h"

namespace kiln::onnx {

/// Imports a node. Where inputs are carried, fails if Kiln does not know what the operator means for their type.
Status import_by_type(ImportContext& cx, ImportFunction import);

/// Fails where an input is carried: for plugins, which take the types of TensorRT.
Status refuse_carried(const ImportContext& cx);

}  // namespace kiln::onnx
