#include "onnx/node_reader.h"

namespace kiln::onnx {

const AttributeDef* NodeReader::find(std::string_view attribute) {
  for (size_t i = 0; i < node_.attributes.size(); ++i)
    if (node_.attributes[i].name == attribute) {
      is_read_[i] = true;
      return &node_.attributes[i];
    }
  return nullptr;
}

std::vector<Ref<const AttributeDef>> NodeReader::unread() const {
  std::vector<Ref<const AttributeDef>> attributes;
  for (size_t i = 0; i < is_read_.size(); ++i)
    if (!is_read_[i]) attributes.push_back(std::cref(node_.attributes[i]));
  return attributes;
}

/// The attribute of that name and kind; null where there is none of that name.
Result<const AttributeDef*> NodeReader::find_of_kind(std::string_view name, AttributeKind kind) {
  const AttributeDef* attribute = find(name);
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

Result<Ref<const AttributeDef>> NodeReader::need_of_kind(std::string_view name, AttributeKind kind) {
  const AttributeDef* attribute = TRY(find_of_kind(name, kind));
  if (!attribute) return error(Code::kInvalidArgument, "attribute '", name, "' is missing; ", kind, " is needed");
  return std::cref(*attribute);
}

Result<int64_t> NodeReader::get_int(std::string_view attribute, int64_t otherwise) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kInt));
  return found ? found->i : otherwise;
}
Result<float> NodeReader::get_float(std::string_view attribute, float otherwise) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kFloat));
  return found ? found->f : otherwise;
}
Result<std::string_view> NodeReader::get_string(std::string_view attribute, std::string_view otherwise) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kString));
  return found ? found->s : otherwise;
}
Result<std::vector<int64_t>> NodeReader::get_ints(std::string_view attribute, std::vector<int64_t> otherwise) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kInts));
  return found ? found->ints : std::move(otherwise);
}
Result<std::vector<float>> NodeReader::get_floats(std::string_view attribute, std::vector<float> otherwise) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kFloats));
  return found ? found->floats : std::move(otherwise);
}
Result<std::vector<std::string_view>> NodeReader::get_strings(std::string_view attribute) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kStrings));
  return found ? found->strings : std::vector<std::string_view>{};
}
Result<const TensorDef*> NodeReader::get_tensor(std::string_view attribute) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kTensor));
  return found ? &found->tensors[0] : nullptr;
}
Result<const GraphDef*> NodeReader::get_graph(std::string_view attribute) {
  const AttributeDef* found = TRY(find_of_kind(attribute, AttributeKind::kGraph));
  return found ? found->graphs[0].get() : nullptr;
}

Result<int64_t> NodeReader::need_int(std::string_view attribute) {
  return TRY(need_of_kind(attribute, AttributeKind::kInt)).get().i;
}
Result<std::string_view> NodeReader::need_string(std::string_view attribute) {
  return TRY(need_of_kind(attribute, AttributeKind::kString)).get().s;
}
Result<std::vector<int64_t>> NodeReader::need_ints(std::string_view attribute) {
  return TRY(need_of_kind(attribute, AttributeKind::kInts)).get().ints;
}
Result<Ref<const GraphDef>> NodeReader::need_graph(std::string_view attribute) {
  return std::cref(*TRY(need_of_kind(attribute, AttributeKind::kGraph)).get().graphs[0]);
}

}  // namespace kiln::onnx
