#include "onnx/model.h"

#include <iterator>

namespace kiln::onnx {
namespace {

constexpr std::string_view kKindNames[] = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

/// The attribute of that name and kind; null where there is none of that name.
Result<const AttributeDef*> find_of_kind(const NodeDef& node, std::string_view name, AttributeKind kind) {
  const AttributeDef* attribute = node.find(name);
  if (!attribute) return nullptr;
  if (!attribute->ref_name.empty())
    return error(Code::kCorrupt, "attribute '", name, "' refers to '", attribute->ref_name,
                 "' of a function, but the node is in none");
  // An empty list has no element that tells its kind: exporters that leave the type out write it as UNDEFINED.
  const bool empty_list =
      attribute->kind == AttributeKind::kUndefined &&
      (kind == AttributeKind::kInts || kind == AttributeKind::kFloats || kind == AttributeKind::kStrings);
  if (attribute->kind != kind && !empty_list)
    return error(Code::kInvalidArgument, "attribute '", name, "' is a ", attribute->kind, "; ", kind, " is needed");
  return attribute;
}

Result<Ref<const AttributeDef>> need_of_kind(const NodeDef& node, std::string_view name, AttributeKind kind) {
  const AttributeDef* attribute = TRY(find_of_kind(node, name, kind));
  if (!attribute) return error(Code::kInvalidArgument, "attribute '", name, "' is missing; ", kind, " is needed");
  return std::cref(*attribute);
}

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

const AttributeDef* NodeDef::find(std::string_view attribute) const {
  for (const AttributeDef& candidate : attributes)
    if (candidate.name == attribute) return &candidate;
  return nullptr;
}

Result<int64_t> NodeDef::get_int(std::string_view attribute, int64_t otherwise) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kInt));
  return found ? found->i : otherwise;
}
Result<float> NodeDef::get_float(std::string_view attribute, float otherwise) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kFloat));
  return found ? found->f : otherwise;
}
Result<std::string_view> NodeDef::get_string(std::string_view attribute, std::string_view otherwise) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kString));
  return found ? found->s : otherwise;
}
Result<std::vector<int64_t>> NodeDef::get_ints(std::string_view attribute, std::vector<int64_t> otherwise) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kInts));
  return found ? found->ints : std::move(otherwise);
}
Result<std::vector<float>> NodeDef::get_floats(std::string_view attribute, std::vector<float> otherwise) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kFloats));
  return found ? found->floats : std::move(otherwise);
}
Result<std::vector<std::string_view>> NodeDef::get_strings(std::string_view attribute) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kStrings));
  return found ? found->strings : std::vector<std::string_view>{};
}
Result<const TensorDef*> NodeDef::get_tensor(std::string_view attribute) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kTensor));
  return found ? &found->tensors[0] : nullptr;
}
Result<const GraphDef*> NodeDef::get_graph(std::string_view attribute) const {
  const AttributeDef* found = TRY(find_of_kind(*this, attribute, AttributeKind::kGraph));
  return found ? found->graphs[0].get() : nullptr;
}

Result<int64_t> NodeDef::need_int(std::string_view attribute) const {
  return TRY(need_of_kind(*this, attribute, AttributeKind::kInt)).get().i;
}
Result<std::string_view> NodeDef::need_string(std::string_view attribute) const {
  return TRY(need_of_kind(*this, attribute, AttributeKind::kString)).get().s;
}
Result<std::vector<int64_t>> NodeDef::need_ints(std::string_view attribute) const {
  return TRY(need_of_kind(*this, attribute, AttributeKind::kInts)).get().ints;
}
Result<Ref<const GraphDef>> NodeDef::need_graph(std::string_view attribute) const {
  return std::cref(*TRY(need_of_kind(*this, attribute, AttributeKind::kGraph)).get().graphs[0]);
}

std::optional<int64_t> Model::opset(std::string_view domain) const {
  for (const OpsetImport& import : opset_imports)
    if (import.domain == domain) return import.version;
  return std::nullopt;
}

Result<int64_t> Model::opset_of(const NodeDef& node) const {
  if (node.opset) return node.opset;
  if (const auto version = opset(node.domain)) return *version;
  return error(Code::kInvalidArgument, "the model imports no operator set of domain '",
               node.domain.empty() ? "ai.onnx" : node.domain, "'");
}

}  // namespace kiln::onnx
