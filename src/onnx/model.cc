#include "onnx/model.h"

#include <iterator>

namespace kiln::onnx {
namespace {

constexpr std::string_view kKindNames[] = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

}  // namespace

void append(std::string& out, AttributeKind kind) {
  const auto number = static_cast<size_t>(kind);
  out += number < std::size(kKindNames) ? kKindNames[number] : "unknown kind";
}

void append(std::string& out, const NodeDef& node) {
  out += "node ";
  if (!node.name.empty()) out += kiln::str('\'', node.name, "' ");
  out += '(';
  if (!node.domain.empty()) out += kiln::str(node.domain, '.');
  out += node.op_type;
  out += ')';
  if (!node.name.empty()) return;
  for (const std::string_view output : node.outputs)
    if (!output.empty()) {
      out += kiln::str(" that makes '", output, '\'');
      return;
    }
}

std::optional<int64_t> Model::opset(std::string_view domain) const {
  for (const OpsetImport& import : opset_imports)
    if (import.domain == domain) return import.version;
  if (domain == "com.microsoft") return 1;  // ONNX Runtime runs such models, and tools write them
  return std::nullopt;
}

Result<int64_t> Model::opset_of(const NodeDef& node) const {
  if (node.opset) return node.opset;
  if (const auto version = opset(node.domain)) return *version;
  return error(Code::kInvalidArgument, "the model imports no operator set of domain '",
               node.domain.empty() ? "ai.onnx" : node.domain, "'");
}

}  // namespace kiln::onnx
