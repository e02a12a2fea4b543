#include "onnx/constant_inputs.h"

#include <algorithm>
#include <set>

namespace kiln::conformance {
namespace {

// Protocol buffer tags: the field's number times 8, and 2 for what has a length.
constexpr uint64_t kGraphOfModel = 7 * 8 + 2, kInitializerOfGraph = 5 * 8 + 2, kNameOfTensor = 8 * 8 + 2;

bool takes_float_shape(std::string_view op, size_t input) {
  if (op == "Resize") return input == 1 || input == 2;
  if (op == "Upsample" || op == "OneHot") return input == 1;
  return op == "Range";
}

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_field(std::string& out, uint64_t tag, std::string_view content) {
  append_varint(out, tag);
  append_varint(out, content.size());
  out += content;
}

Result<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return error(Code::kCorrupt, "a varint does not end");
}

}  // namespace

std::vector<size_t> float_shape_inputs(const onnx::Model& model) {
  std::set<std::string_view> names;
  for (const onnx::NodeDef& node : model.graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (node.domain.empty() && takes_float_shape(node.op_type, i)) names.insert(node.inputs[i]);
  std::vector<size_t> positions;
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    const onnx::ValueInfo& input = model.graph.inputs[i];
    if (input.type.element_type == onnx::ElementType::kFloat && names.contains(input.name)) positions.push_back(i);
  }
  return positions;
}

Result<std::string> with_initializer(std::string_view model, std::string_view tensor, std::string_view name) {
  std::string named(tensor);
  append_field(named, kNameOfTensor, name);  // the last of a field that occurs twice counts
  std::string result;
  while (!model.empty()) {
    const std::string_view before = model;
    const uint64_t tag = TRY(take_varint(model));
    const uint64_t value = TRY(take_varint(model));  // a model has no fixed-width fields
    if ((tag & 7) == 2) {
      TRY(require(value <= model.size(), "a field of the model exceeds it"));
      const std::string_view content = model.substr(0, value);
      model.remove_prefix(value);
      if (tag == kGraphOfModel) {
        std::string graph(content);
        append_field(graph, kInitializerOfGraph, named);
        append_field(result, tag, graph);
        continue;
      }
    } else {
      TRY(require((tag & 7) == 0, "the model has a field of wire type ", tag & 7));
    }
    result += before.substr(0, before.size() - model.size());
  }
  return result;
}

}  // namespace kiln::conformance
