/// The importers of all ONNX operators: one function an operator, files by family.
#pragma once

#include <string_view>

#include "onnx/import/context.h"

namespace kiln::onnx {

using ImportFunction = Status (*)(ImportContext&);

/// Null where there is none.
ImportFunction find_importer(std::string_view domain, std::string_view op_type);

namespace importers {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers.def"
#undef IMPORT
namespace microsoft {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers_microsoft.def"
#undef IMPORT
}  // namespace microsoft
namespace ml {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers_ml.def"
#undef IMPORT
}  // namespace ml
namespace preview {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers_preview.def"
#undef IMPORT
}  // namespace preview
namespace training {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers_training.def"
#undef IMPORT
}  // namespace training
namespace trt {
#define IMPORT(op_type, function) Status function(ImportContext&);
#include "onnx/importers_trt.def"
#undef IMPORT
}  // namespace trt
}  // namespace importers

}  // namespace kiln::onnx
