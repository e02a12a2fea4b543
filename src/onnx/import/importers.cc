#include "onnx/import/importers.h"

#include <unordered_map>

#include "onnx/importer.h"

namespace kiln::onnx {
namespace {

using Table = std::unordered_map<std::string_view, ImportFunction>;

const Table& onnx_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::function},
#include "onnx/importers.def"
#undef IMPORT
  };
  return kTable;
}

const Table& microsoft_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::microsoft::function},
#include "onnx/importers_microsoft.def"
#undef IMPORT
      {"DequantizeLinear", &importers::dequantize_linear},
      {"QuantizeLinear", &importers::quantize_linear},
  };
  return kTable;
}

const Table& ml_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::ml::function},
#include "onnx/importers_ml.def"
#undef IMPORT
  };
  return kTable;
}

const Table& preview_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::preview::function},
#include "onnx/importers_preview.def"
#undef IMPORT
  };
  return kTable;
}

const Table& training_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::training::function},
#include "onnx/importers_training.def"
#undef IMPORT
  };
  return kTable;
}

const Table& trt_table() {
  static const Table kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::trt::function},
#include "onnx/importers_trt.def"
#undef IMPORT
      {"DequantizeLinear", &importers::dequantize_linear},
      {"QuantizeLinear", &importers::quantize_linear},
  };
  return kTable;
}

const Table* table_of(std::string_view domain) {
  if (domain.empty()) return &onnx_table();
  if (domain == "com.microsoft") return &microsoft_table();
  if (domain == "ai.onnx.ml") return &ml_table();
  if (domain == "ai.onnx.preview") return &preview_table();
  if (domain == "trt") return &trt_table();
  return domain == "ai.onnx.preview.training" ? &training_table() : nullptr;
}

}  // namespace

ImportFunction find_importer(std::string_view domain, std::string_view op_type) {
  // TensorRT's parser looks at the names of operators alone.
  const Table* table = table_of(domain.empty() && op_type.starts_with("TRT_") ? "trt" : domain);
  if (!table) return nullptr;
  const auto found = table->find(op_type);
  return found == table->end() ? nullptr : found->second;
}

bool has_importer(std::string_view domain, std::string_view op_type) { return find_importer(domain, op_type); }

}  // namespace kiln::onnx
