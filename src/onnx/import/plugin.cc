#include "onnx/import/plugin.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "onnx/dtypes.h"
#include "onnx/tensor_data.h"

namespace kiln::onnx {
namespace {

constexpr std::string_view kVersion = "plugin_version", kNamespace = "plugin_namespace",
                           kShapeInputs = "tensorrt_plugin_shape_input_indices";

template <class T>
PluginField field_of(std::string_view name, PluginFieldType type, const T* values, size_t count) {
  PluginField field{.name = std::string(name), .type = type, .count = static_cast<int64_t>(count), .data = {}};
  field.data.resize(count * sizeof(T));
  if (count > 0) std::memcpy(field.data.data(), values, field.data.size());
  return field;
}

/// TensorRT's parser hands integers to plugins in 32 bits.
Result<std::vector<int32_t>> narrow(std::string_view name, std::span<const int64_t> values) {
  std::vector<int32_t> result;
  for (const int64_t value : values) {
    TRY(require(value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max(),
                "attribute '", name, "' has ", value, "; plugins get attributes in 32 bits"));
    result.push_back(static_cast<int32_t>(value));
  }
  return result;
}

Result<PluginFieldType> field_type_of(DType dtype) {
  switch (dtype) {
    case DType::kF16: return PluginFieldType::kF16;
    case DType::kBF16: return PluginFieldType::kBF16;
    case DType::kF32: return PluginFieldType::kF32;
    case DType::kF64: return PluginFieldType::kF64;
    case DType::kI8: return PluginFieldType::kI8;
    case DType::kI32: return PluginFieldType::kI32;
    case DType::kI64: return PluginFieldType::kI64;
    default: return error(Code::kUnsupported, "is a tensor of ", dtype, ", which is no type of a plugin's field");
  }
}

/// A list of strings is one field of letters, with a zero behind each string.
PluginField field_of(std::string_view name, std::span<const std::string_view> strings) {
  std::string letters;
  for (const std::string_view one : strings) letters.append(one).push_back('\0');
  return field_of(name, PluginFieldType::kChar, letters.data(), letters.size());
}

Result<PluginField> field_of(ImportContext& cx, const AttributeDef& attribute) {
  const std::string_view name = attribute.name;
  switch (attribute.kind) {
    case AttributeKind::kFloat: return field_of(name, PluginFieldType::kF32, &attribute.f, 1);
    case AttributeKind::kFloats:
      return field_of(name, PluginFieldType::kF32, attribute.floats.data(), attribute.floats.size());
    case AttributeKind::kInt: {
      const auto values = TRY(narrow(name, {&attribute.i, 1}));
      return field_of(name, PluginFieldType::kI32, values.data(), 1);
    }
    case AttributeKind::kInts: {
      const auto values = TRY(narrow(name, attribute.ints));
      return field_of(name, PluginFieldType::kI32, values.data(), values.size());
    }
    case AttributeKind::kString: return field_of(name, PluginFieldType::kChar, attribute.s.data(), attribute.s.size());
    case AttributeKind::kStrings: return field_of(name, attribute.strings);
    case AttributeKind::kTensor: {
      if (attribute.tensors[0].type == ElementType::kString)
        return field_of(name, TRY(tensor_strings(attribute.tensors[0])));
      const HostTensor value = TRY(host_tensor(TRY(tensor_data(cx.model(), attribute.tensors[0]))));
      const PluginFieldType type =
          TRY(in_context(field_type_of(value.dtype()), [&] { return str("attribute '", name, "'"); }));
      PluginField field = field_of(name, type, value.bytes().data(), value.bytes().size());
      field.count = value.volume();
      return field;
    }
    default:
      return error(Code::kUnsupported, "attribute '", name, "' is of kind ", attribute.kind,
                   ", which plugins have no fields of");
  }
}

Result<PluginIdentity> plugin_of(const NodeDef& node) {
  NodeReader reader(node);
  const std::string version(TRY(reader.get_string(kVersion, "1"))), space(TRY(reader.get_string(kNamespace, "")));
  return PluginIdentity{std::string(node.op_type), version, space};
}

}  // namespace

Result<std::optional<PluginIdentity>> known_plugin(const NodeDef& node, PluginSource* source) {
  if (!source) return std::nullopt;
  PluginIdentity identity = TRY(plugin_of(node));
  if (!source->knows(identity)) return std::nullopt;
  return identity;
}

Status no_importer(const NodeDef& node, PluginSource* source) {
  const std::string plugin = source ? str(", and no creator of ", TRY(plugin_of(node)), " is registered") : "";
  return error(Code::kUnsupported, "Kiln has no importer for operator ", node.op_type, " of domain '",
               node.domain.empty() ? "ai.onnx" : node.domain, "'", plugin);
}

Status import_plugin(ImportContext& cx, const PluginIdentity& identity, PluginSource& source) {
  const std::vector<std::string> taken = TRY(source.attributes_of(identity));
  std::vector<PluginField> fields;
  for (const AttributeDef& attribute : cx.def().attributes)
    if (attribute.name != kVersion && attribute.name != kNamespace && attribute.name != kShapeInputs &&
        std::ranges::find(taken, attribute.name) != taken.end()) {
      TRY(require(std::ranges::find(fields, attribute.name, &PluginField::name) == fields.end(), "attribute '",
                  attribute.name, "' is given twice"));
      fields.push_back(TRY(field_of(cx, attribute)));
    }
  const std::vector<int64_t> of_shapes = TRY(cx.node().get_ints(kShapeInputs, {}));
  for (const int64_t index : of_shapes)
    TRY(require(index >= 0 && index < static_cast<int64_t>(cx.num_inputs()), "attribute '", kShapeInputs, "' has ",
                index, "; the node has ", cx.num_inputs(), " inputs"));
  Values inputs, shape_inputs;
  for (size_t i = 0; i < cx.num_inputs(); ++i) {
    const ValueId input = TRY(cx.input(i));
    (std::ranges::count(of_shapes, static_cast<int64_t>(i)) ? shape_inputs : inputs).push_back(input);
  }
  ops::Plugin op = TRY(source.make({identity, cx.def().name, fields}));
  op.num_tensors = static_cast<int>(inputs.size());
  TRY(require(static_cast<size_t>(op.num_outputs()) >= cx.num_outputs(), identity, " has ", op.num_outputs(),
              " outputs; the node has ", cx.num_outputs()));
  inputs.insert(inputs.end(), shape_inputs.begin(), shape_inputs.end());
  const Values outputs = TRY(cx.add_all(std::move(op), inputs));
  for (size_t i = 0; i < cx.num_outputs(); ++i)
    if (cx.wants(i)) TRY(cx.output(i, outputs[i]));
  return {};
}

}  // namespace kiln::onnx
