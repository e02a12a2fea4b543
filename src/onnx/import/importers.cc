#include "onnx/import/importers.h"

#include <unordered_map>

namespace kiln::onnx {

ImportFunction find_importer(std::string_view domain, std::string_view op_type) {
  static const std::unordered_map<std::string_view, ImportFunction> kTable = {
#define IMPORT(op_type, function) {#op_type, &importers::function},
#include "onnx/importers.def"
#undef IMPORT
  };
  if (!domain.empty()) return nullptr;
  const auto found = kTable.find(op_type);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace kiln::onnx
